/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The libvirt qemu hook: /etc/libvirt/hooks/qemu.d/50-vmgen NAME OPERATION SUBOPERATION
 * EXTRA, the domain XML on standard input.
 *
 * libvirt kills a running guest whose hook fails at reconnect or started, and waits for
 * ever for one that hangs. So this process only reads, forks, waits and judges; the work
 * is machine/event.c's, in a child that may die.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "guest/doc.h"
#include "machine/event.h"
#include "machine/hookfile.h"
#include "machine/log.h"
#include "machine/supervise.h"

enum {
	MILLISECONDS = 10000, /* libvirt itself would wait for ever */
	BYTES = 512 << 20,
};

/* The kill switch. */
static const char disabled[] = "/etc/vmgen/disabled";

/* `vmgen doctor` looks for it. */
__attribute__((used)) static const char version[] = HOOKFILE_MARK VERSION;

struct work {
	const struct operation *operation;
	struct event event;
};

/* What a user sees is one line; all the rest is in the log. */
static void say(const char *guest, const struct diag *diag)
{
	for (size_t i = 0; i < diag->count; i++) {
		const struct finding *finding = &diag->findings[i];

		if (finding->level != DIAG_ERROR)
			continue;
		fprintf(stderr, "vmgen: %s: ", guest);
		if (finding->file && !finding->line)
			fprintf(stderr, "%s: ", finding->file);
		fputs(finding->text, stderr);
		for (size_t n = 0; n < finding->n_notes; n++)
			fprintf(stderr, "; %s", finding->notes[n].text);
		if (finding->file && finding->line)
			fprintf(stderr, " (%s:%u)", finding->file, finding->line);
		fputc('\n', stderr);
		return;
	}
}

/* The guest's XML may hold passwords: it stays in this process and its child. */
static char *read_input(size_t *ret_length)
{
	struct text text = TEXT_INIT;
	char block[65536];
	ssize_t count;

	while ((count = read(STDIN_FILENO, block, sizeof(block))) > 0)
		if (text.length <= DOC_BYTES)
			text_add_bytes(&text, block, (size_t)count);
	*ret_length = text.length;
	return text_take(&text);
}

static int child(void *data)
{
	struct work *work = data;
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *xml = read_input(&work->event.length);

	work->event.xml = xml;
	bool done = work->operation->run(&work->event, &diag);
	log_diag(work->event.name, &diag);
	if (!done && work->operation->refuses)
		say(work->event.name, &diag);
	return !done;
}

static char *how_it_ended(const struct supervised *end)
{
	if (end->end == SUPERVISE_KILLED)
		return xasprintf("was killed by signal %d", end->code);
	if (end->end == SUPERVISE_LATE)
		return xasprintf("was not done after %d s", MILLISECONDS / 1000);
	return xasprintf("could not be started: %s", strerror(end->code));
}

static void say_died(const struct work *work, const struct supervised *end)
{
	cleanup_free char *how = how_it_ended(end);

	log_guest(LOG_ERR, work->event.name, "%s: the hook's child %s",
		  work->operation->name, how);
	if (work->operation->refuses)
		fprintf(stderr,
			"vmgen: %s: the hook's child %s, so its policy could not be seen "
			"to; the log has more\n",
			work->event.name, how);
}

static bool forward(const struct captured *output, FILE *stream)
{
	return fwrite(output->data, 1, output->length, stream) == output->length &&
	       fflush(stream) == 0;
}

static int judge(const struct work *work, const struct supervised *end)
{
	const struct operation *operation = work->operation;
	bool ended = end->end == SUPERVISE_EXITED;

	forward(&end->errors, stderr);
	if (!ended)
		say_died(work, end);
	if (!operation->refuses)
		return 0;
	if (!ended || end->code)
		return 1;
	return operation->filters && !forward(&end->output, stdout);
}

int main(int argc, char **argv)
{
	const struct operation *operation = argc > 2 ? event_operation(argv[2]) : NULL;
	struct supervised end;

	/* libvirt runs the hooks of root for the sessions of ordinary users too */
	if (!operation || geteuid() != 0 || access(disabled, F_OK) == 0)
		return 0;
	struct work work = {
		.operation = operation,
		.event = { .name = argv[1], .daemon = (unsigned)getppid() },
	};
	supervise(child, &work, MILLISECONDS, BYTES, &end);
	int status = judge(&work, &end);
	supervised_done(&end);
	return status;
}

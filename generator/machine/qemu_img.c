/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* qemu-img, which knows what images are. */
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "machine/programs.h"
#include "machine/qemu_img.h"

enum { WORDS = 12, NOT_RUN = 127 };

/* What is run in the child. */
struct call {
	char *program;
	const char *words[WORDS]; /* ends with NULL */
	int fd;			  /* that it inherits, or -1 */
};

static int become(void *data)
{
	const struct call *call = data;
	char *arguments[WORDS], locale[] = "LC_ALL=C";
	char *const environment[] = { locale, NULL };
	sigset_t none;

	for (size_t i = 0; i < WORDS; i++)
		arguments[i] = call->words[i] ? xstrdup(call->words[i]) : NULL;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (call->fd >= 0)
		fcntl(call->fd, F_SETFD, 0);
	execve(call->program, arguments, environment);
	_exit(NOT_RUN);
}

/* The first line of what it said, without its own name. */
static char *reason(const struct supervised *end)
{
	static const char name[] = "qemu-img: ";
	const char *said = end->errors.data;
	size_t length = end->errors.length;

	if (end->end == SUPERVISE_STOPPED)
		return xstrdup("interrupted");
	if (end->end == SUPERVISE_KILLED)
		return xasprintf("qemu-img was killed by signal %d", end->code);
	if (end->end == SUPERVISE_FAILED)
		return xasprintf("no process for qemu-img: %s", strerror(end->code));
	if (length > strlen(name) && !memcmp(said, name, strlen(name))) {
		said += strlen(name);
		length -= strlen(name);
	}
	const char *line = length ? memchr(said, '\n', length) : NULL;
	return length ? xstrndup(said, line ? (size_t)(line - said) : length)
		      : xasprintf("qemu-img ended with status %d", end->code);
}

static bool always(void *data)
{
	(void)data;
	return true;
}

/* What it prints, or NULL and a report that begins with WHAT. */
static char *run(struct call *call, const struct supervise_watch *watch, const char *what,
		 struct diag *diag)
{
	static const struct supervise_watch patient = { always, NULL };
	struct supervised end;
	char *output = NULL;

	call->program = programs_find("qemu-img");
	if (!call->program) {
		diag_error(diag, NOWHERE, "disk",
			   "%s: qemu-img is not installed (package qemu-utils or "
			   "qemu-img)",
			   what);
		return NULL;
	}
	supervise_watched(become, call, watch ? watch : &patient, &end);
	if (end.end == SUPERVISE_EXITED && end.code == 0) {
		output = xstrndup(end.output.data ? end.output.data : "",
				  end.output.length);
	} else {
		cleanup_free char *why = reason(&end);

		diag_error(diag, NOWHERE, "disk", "%s: %s", what, why);
	}
	supervised_done(&end);
	free(call->program);
	return output;
}

bool qemu_img_size(const char *path, const char *format, uint64_t *ret_size,
		   struct diag *diag)
{
	struct call call = {
		.words = { "qemu-img", "info", "-U", "-f", format, "--output=json",
			   path },
		.fd = -1,
	};
	cleanup_free char *what = xasprintf("%s cannot be looked at", path);
	cleanup_free char *output = run(&call, NULL, what, diag);
	json_t *info = output ? json_loads(output, 0, NULL) : NULL;
	json_t *size = json_object_get(info, "virtual-size");
	bool good = json_is_integer(size) && json_integer_value(size) >= 0;

	if (good)
		*ret_size = (uint64_t)json_integer_value(size);
	else if (output)
		diag_error(diag, NOWHERE, "disk", "%s: qemu-img does not say its size",
			   what);
	json_decref(info);
	return good;
}

bool qemu_img_create(const struct qemu_img_create *create, const char *path,
		     struct diag *diag)
{
	cleanup_free char *file = xasprintf("/proc/self/fd/%d", create->fd);
	cleanup_free char *size = xasprintf("%" PRIu64, create->size);
	cleanup_free char *option = xasprintf(
		"preallocation=%s",
		create->preallocation ? create->preallocation : "off");
	struct call call = {
		.words = { "qemu-img", "create", "-q", "-f", create->format, "-o", option,
			   file, size },
		.fd = create->fd,
	};
	cleanup_free char *what = xasprintf("%s cannot be made", path);
	cleanup_free char *output = run(&call, create->watch, what, diag);

	return output != NULL;
}

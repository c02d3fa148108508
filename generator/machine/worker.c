/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Starting `vmgen worker`. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "guest/digest.h"
#include "machine/worker.h"

const char worker_program[] = BINDIR "/vmgen";

_Noreturn static void become(enum worker_task task, const char *uuid, const char *digest)
{
	struct rlimit memory;
	int null = open("/dev/null", O_RDWR);

	setsid();
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	close_range(3, ~0U, 0);
	/* the hook's child was limited, and dies with its parent; neither is passed on */
	if (getrlimit(RLIMIT_AS, &memory) == 0) {
		memory.rlim_cur = memory.rlim_max;
		setrlimit(RLIMIT_AS, &memory);
	}
	if (task == WORKER_LIVE)
		execl(worker_program, "vmgen", "worker", "--live", uuid, (char *)NULL);
	else
		execl(worker_program, "vmgen", "worker", "--define", uuid, "--started",
		      digest, task == WORKER_DEFINE_START ? "--start" : (char *)NULL,
		      (char *)NULL);
	_exit(127);
}

unsigned worker_start(enum worker_task task, const struct guest *guest, struct diag *diag)
{
	cleanup_free char *digest = xasprintf("%016" PRIx64, guest_digest(guest));

	if (access(worker_program, X_OK)) {
		diag_error(diag, NOWHERE, NULL, "%s cannot be run: %s", worker_program,
			   strerror(errno));
		return 0;
	}
	pid_t pid = fork();
	if (pid == 0)
		become(task, guest->uuid, digest);
	if (pid < 0)
		diag_error(diag, NOWHERE, NULL, "no process for the worker: %s",
			   strerror(errno));
	return pid > 0 ? (unsigned)pid : 0;
}

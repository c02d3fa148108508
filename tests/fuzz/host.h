/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What must hold for a machine in any form. */
#ifndef VMGEN_FUZZ_HOST_H
#define VMGEN_FUZZ_HOST_H

#include "fuzz/fuzz.h"
#include "host/host.h"

static inline char *fuzz_host_print(const struct host *host)
{
	char *out = NULL;
	size_t length;
	FILE *stream = open_memstream(&out, &length);

	if (!stream)
		abort();
	host_print(host, stream);
	fclose(stream);
	return out;
}

/* HOST is printed, read and printed: the same. */
static inline void fuzz_host_survives(const struct host *host)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *first = fuzz_host_print(host);
	cleanup_host struct host *again = host_from_yaml("again", first, strlen(first),
							 &diag);

	diag_print(&diag, stderr, false);
	must(again);
	cleanup_free char *second = fuzz_host_print(again);
	must(text_equal(first, second));
}

/* libhwloc 2.9 leaks a few bytes of descriptions that it refuses. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libhwloc";
}

/* One form's reader: a machine, or a reason why it is none. */
static inline int fuzz_host(struct host *(*read)(const char *, const char *, size_t,
						 struct diag *),
			    const uint8_t *data, size_t size)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	cleanup_free char *text = fuzz_text(data, size);
	cleanup_host struct host *host = read("input", text, size, &diag);

	must(!host == !!diag.errors);
	if (host)
		fuzz_host_survives(host);
	return 0;
}

#endif

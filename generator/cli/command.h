/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Commands as data: one file each, one row each. The parser of the command line, the
 * help, and the completion read the same rows.
 */
#ifndef VMGEN_COMMAND_H
#define VMGEN_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* --name, and -letter if there is one. */
struct option_row {
	const char *name; /* NULL ends a table */
	char letter;
	const char *argument; /* "FILE"; NULL: takes none */
	const char *help;     /* one line, no full stop */
};

/* An option as it was given; value is "" for one that takes none. */
struct given_option {
	const struct option_row *row;
	const char *value;
};

struct arguments {
	const struct given_option *options; /* in the order given */
	size_t n_options;
	const char *const *words; /* the rest */
	size_t n_words;
};

struct command {
	const char *name;
	const char *words; /* "POLICY [DOMAIN]", for the usage line */
	size_t min_words, max_words;
	const char *summary; /* one line, no full stop */
	const struct option_row *options;
	/* 0 fine, 1 findings or failure, 2 usage. Results on stdout, all else on stderr.
	 */
	int (*run)(const struct arguments *arguments);
};

/* Rows that several commands have. */
#define OPTION_HOST                                                                  \
	{                                                                            \
		"host", 0, "HOST",                                                   \
			"host description: YAML, hwloc XML, capabilities XML, or a " \
			"synthetic string "                                          \
			"(default: this machine)"                                    \
	}
#define OPTION_HOST_POLICY                                                            \
	{                                                                             \
		"host-policy", 0, "FILE",                                             \
			"what the owner set aside (default: /etc/vmgen/host.yaml if " \
			"this machine is "                                            \
			"the host and it is there)"                                   \
	}
#define OPTION_CLAIMS                                                           \
	{                                                                       \
		"claims", 0, "FILE", "what other guests own (default: nothing)" \
	}
#define OPTION_CONNECT                                                                  \
	{                                                                               \
		"connect", 0, "URI", "where libvirt is (default: libvirt's own choice)" \
	}
#define OPTION_END                  \
	{                           \
		NULL, 0, NULL, NULL \
	}

/* The value given last for --NAME, or NULL. */
const char *argument_value(const struct arguments *arguments, const char *name);

extern const struct command command_render;
extern const struct command command_rewrite;
extern const struct command command_diff;
extern const struct command command_lint;
extern const struct command command_host;
extern const struct command command_plan;
extern const struct command command_apply;
extern const struct command command_undo;
extern const struct command command_verify;
extern const struct command command_claims;
extern const struct command command_worker;
extern const struct command command_doctor;
extern const struct command command_rules;
extern const struct command command_schema;

#endif

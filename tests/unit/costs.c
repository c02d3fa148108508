/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The manual page tells the order in which placement decides as the table has it. */
#include <string.h>

#include "base/text.h"
#include "machine/file.h"
#include "placement/costs.h"
#include "tap.h"

int main(void)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	size_t length;
	cleanup_free char *page = file_read("generator/man/vmgen-placement.7", 1 << 20,
					    &length, &diag);
	const char *at = page ? strstr(page, "What is best") : NULL;

	ok(at != NULL, "vmgen-placement(7) has the section");
	for (const enum column *column = costs_order(false);
	     at && *column != COST_COLUMNS; column++) {
		const struct cost_row *row = costs_row(*column);
		cleanup_free char *entry = xasprintf("\n.TP\n.B %s\n", row->name);
		const char *next = strstr(at, entry);

		ok(next != NULL, "%s comes next in the page as in the table", row->name);
		at = next ? next : at;
		ok(strlen(row->why) > 20, "%s says why: %s", row->name, row->why);
	}
	return tap_done();
}

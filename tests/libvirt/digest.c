/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `digest FILE`: the number that tells a hook's guest and its definition to be the same.
 */
#include <inttypes.h>
#include <stdio.h>

#include "guest/digest.h"
#include "machine/file.h"

int main(int argc, char **argv)
{
	cleanup_diag struct diag diag = DIAG_INIT;
	size_t length;
	cleanup_free char *text = argc == 2
					  ? file_read(argv[1], DOC_BYTES, &length, &diag)
					  : NULL;
	cleanup_doc struct doc *doc = text ? doc_parse(argv[1], text, length, &diag)
					   : NULL;
	cleanup_guest struct guest *guest = doc ? guest_read(doc, &diag) : NULL;

	if (guest)
		printf("%016" PRIx64 "\n", guest_digest(guest));
	diag_print(&diag, stderr, false);
	return !guest;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The empty program: what any process costs. */
int main(void)
{
	return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The vmgen command. */
int main(void)
{
	return 2;
}

# SPDX-License-Identifier: LGPL-2.1-or-later
# What fuzzing starts from, and what it is replayed on.

fuzz_targets() { (cd tests/fuzz && printf '%s\n' *.c) | sed -n '/^replay\.c$/d; s/\.c$//p'; }

# fuzz_seeds TARGET: its files, a line each.
fuzz_seeds() {
	local pattern file
	sed -n "s/^$1 //p" tests/fuzz/seeds.txt | tr ' ' '\n' |
		while read -r pattern; do
			for file in $pattern; do
				[ ! -f "$file" ] || echo "$file"
			done
		done
	find tests/fuzz/seeds tests/fuzz/crashes -path "*/$1/*" -type f | sort
}

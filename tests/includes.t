#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Who may include whom, and what else holds for every source file. The checks also run on
# copies broken on purpose: one that stays silent there is itself the fault.
. "${0%/*}/lib.sh"
need gcc pkg-config

# Rooms, what is theirs, and what they may see: rooms, or single headers of plain data.
# "compile" is what stands directly in generator/.
arrows='
base
policy     base
host       base policy/yaml.h policy/fields.h
guest      base
placement  base host/host.h policy/policy.h policy/host_policy.h guest/guest.h guest/bindings.h
edits      base host guest policy placement
rules      base host guest policy placement/place.h
compile    base host guest policy placement edits rules
machine    base host guest policy placement edits rules compile
connect    base host guest policy placement edits rules compile machine
cli        base host guest policy placement edits rules compile machine connect
hooks      base host guest policy placement edits rules compile machine
'

# Headers of others, and the only files that may include them.
others='
yaml.h     generator/policy/yaml.c
hwloc      generator/host/
libxml/    generator/guest/ generator/host/
libvirt/   generator/connect/
jansson.h  generator/cli/ generator/machine/qemu_img.c
'

# What a room that decides may ask of libc: nothing that knows time, files or users.
pure=' assert ctype errno fnmatch inttypes limits stdarg stdbool stddef stdint stdio
stdlib string strings '
pure_rooms=' policy guest placement edits rules compile '

sources() { find generator hooks -name '*.[ch]' 2>/dev/null | sort; }

# The includes of all sources, as "file < header" or "file \" header".
includes() {
	sources | xargs awk '
		/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
			split($0, piece, /[<">]/)
			print FILENAME, ($0 ~ /"/ ? "\"" : "<"), piece[2]
		}'
}

check_includes() {
	includes | awk -v arrows="$arrows" -v others="$others" -v pure="$pure" \
		-v pure_rooms="$pure_rooms" '
	function room(path) {
		sub(/^generator\//, "", path)
		return sub(/\/.*/, "", path) ? path : "compile"
	}
	BEGIN {
		for (i = split(arrows, rows, "\n"); i; i--) {
			n = split(rows[i], words, " ")
			for (w = 1; w <= n; w++) # itself too
				sees[words[1], words[w]] = 1
		}
		n_others = split(others, other, "\n")
		for (i = split(pure, words, " "); i; i--)
			libc[words[i] ".h"] = 1
		for (i = split(pure_rooms, words, " "); i; i--)
			is_pure[words[i]] = 1
	}
	function may_use(file, header,    i, n, words) {
		for (i = 1; i <= n_others; i++) {
			n = split(other[i], words, " ")
			if (!n || index(header, words[1]) != 1)
				continue
			for (; n > 1; n--)
				if (index(file, words[n]) == 1)
					return 1
			return 0
		}
		return !is_pure[room(file)] || header in libc
	}
	$2 == "<" && !may_use($1, $3) { print $1 ": may not include <" $3 ">" }
	$2 != "<" && !((room($1), room($3)) in sees || (room($1), $3) in sees) {
		print $1 ": may not include \"" $3 "\""
	}'
}

check_rooms() {
	local room

	find generator/* -maxdepth 0 -type d | sed 's,.*/,,' | while read -r room; do
		grep -q "^$room\b" <<<"$arrows" ||
			find "generator/$room" -name '*.[ch]' | sed 's/$/: no such room in the table/'
	done
}

check_one_hwloc() {
	local files

	files=$(includes | awk '$3 ~ /^hwloc/ { print $1 }' | sort -u)
	[ "$(grep -c . <<<"$files")" -le 1 ] || sed 's/$/: hwloc belongs into one file/' <<<"$files"
}

check_headers_alone() {
	local header flags

	flags=$(pkg-config --cflags libxml-2.0 yaml-0.1 hwloc jansson)
	{ sources; find tests -name '*.h'; } | grep '\.h$' | while read -r header; do
		# shellcheck disable=SC2086 # flags are many words
		gcc -std=gnu17 -fsyntax-only -Wall -Wextra -Werror -D_GNU_SOURCE -Igenerator \
			-Itests $flags -include "$PWD/$header" -x c /dev/null >/dev/null 2>&1 ||
			echo "$header: does not compile alone"
	done
}

# Whatever is not built, not git's, and text.
all_files() {
	find . \( -name .git -o -name 'build*' -o -name '*.orig' \) -prune -o -type f -print |
		sed 's,^\./,,' | sort
}

check_licence() {
	local file want

	all_files | while read -r file; do
		case $file in
		*.[ch]) want='/* SPDX-License-Identifier: LGPL-2.1-or-later */' ;;
		*.sh | *.t | *.py | *.bash | GNUmakefile | .ci/run | tests/setup)
			want='# SPDX-License-Identifier: LGPL-2.1-or-later' ;;
		*.[15]) want='.\" SPDX-License-Identifier: LGPL-2.1-or-later' ;;
		*) continue ;;
		esac
		head -n 2 "$file" | grep -qxF "$want" || echo "$file: no SPDX line at its top"
	done
}

# Paths that exist on the machine where it was written alone.
check_paths() {
	local here='(^|[^A-Za-z0-9_}.])/(work|home|root)/[a-z]'

	all_files | grep -vx COPYING | xargs grep -nIE "$here" |
		grep -vF 'includes.t' | sed 's/$/ (a path of one machine)/'
	all_files | xargs grep -nIF "$TOP/" | sed 's/$/ (a path of this machine)/'
}

is "$(check_includes)" "" "arrows between rooms point down, others' headers stay in their room"
is "$(check_one_hwloc)" "" "hwloc is one file's affair"
is "$(check_rooms)" "" "every room is in the table"
is "$(check_headers_alone)" "" "every header compiles alone"
is "$(check_licence)" "" "every file says its licence"
is "$(check_paths)" "" "no path of one machine"

# broken PATTERN FILE LINE...: a copy with LINE put into FILE must be reported.
copy=$TMP/copy
mkdir "$copy"
cp -r generator tests GNUmakefile "$copy"
[ ! -d hooks ] || cp -r hooks "$copy"
broken() {
	local pattern=$1 file=$2 check=$3 report
	shift 3

	mkdir -p "$copy/${file%/*}"
	[ ! -e "$copy/$file" ] || cp "$copy/$file" "$TMP/saved"
	printf '%s\n' "$@" >>"$copy/$file"
	report=$(cd "$copy" && "$check")
	if [ -e "$TMP/saved" ]; then
		mv "$TMP/saved" "$copy/$file"
	else
		rm "$copy/$file"
	fi
	like "$report" "$pattern" "notices: $file, $*"
}

broken '^generator/base/new.c: .*"policy/policy.h"' \
	generator/base/new.c check_includes '#include "policy/policy.h"'
broken '^generator/policy/policy.h: .*"cli/' \
	generator/policy/policy.h check_includes '# include "cli/command.h"'
broken '^generator/edits/edits.h: .*"compile.h"' \
	generator/edits/edits.h check_includes '#include "compile.h"'
broken '^hooks/new.c: .*"connect/new.h"' \
	hooks/new.c check_includes '#include "connect/new.h"'
broken '^generator/guest/guest.h: .*<yaml.h>' \
	generator/guest/guest.h check_includes '#include <yaml.h>'
broken '^hooks/new.c: .*<libvirt/libvirt.h>' \
	hooks/new.c check_includes '#include <libvirt/libvirt.h>'
broken '^generator/placement/new.c: .*<time.h>' \
	generator/placement/new.c check_includes '#include <time.h>'
cp "$copy/generator/base/mem.c" "$copy/generator/host/one.c"
echo '#include <hwloc.h>' >>"$copy/generator/host/one.c"
broken '^generator/host/two.c: hwloc' \
	generator/host/two.c check_one_hwloc '#include <hwloc/helper.h>'
broken '^generator/attic/new.c: no such room' generator/attic/new.c check_rooms '/* */'
broken '^generator/base/mem.h: does not compile' \
	generator/base/mem.h check_headers_alone 'struct gone gone(struct size_t);'
broken '^generator/base/new.c: no SPDX' generator/base/new.c check_licence '/* */'
broken '^tests/new.t: no SPDX' tests/new.t check_licence '#!/bin/bash'
broken '^tests/unit/new.c:1:.*one machine' \
	tests/unit/new.c check_paths "char *p = \"/ho""me/someone/x\";"

done_testing

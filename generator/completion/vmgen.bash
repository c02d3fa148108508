# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for vmgen. It asks vmgen itself, so that it knows what vmgen knows.
# shellcheck shell=bash

# The first words of the indented lines of a help text: commands, or options.
_vmgen_words() {
	"$@" 2>/dev/null | sed -nE 's/^ +(-., )?((--)?[a-z][a-z-]*).*/\2/p'
}

# The values of OPTION of COMMAND, if the help names them as "what for: a, b, c".
_vmgen_values() {
	"$1" "$2" --help 2>/dev/null |
		sed -nE "s/^ +(-., )?$3 [A-Z]+ .*: ([a-z, -]+)\$/\2/p" | tr -d ,
}

_vmgen() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} words=''

	if [ "$cur" = = ]; then
		cur=''
	elif [ "$prev" = = ]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if [ "$COMP_CWORD" = 1 ]; then
		words="$(_vmgen_words "$program" --help) --help --version"
	else
		case $prev in
		-W | -E) words=$(_vmgen_words "$program" rules) ;;
		--*) words=$(_vmgen_values "$program" "$command" "$prev") ;;
		esac
		[[ -n $words || $cur != -* ]] || words=$(_vmgen_words "$program" "$command" --help)
		[ "$command" != rules ] || [ -n "$words" ] || words=$(_vmgen_words "$program" rules)
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -o default -F _vmgen vmgen

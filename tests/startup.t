#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What does not ask libvirt anything does not load its library, which takes 12 ms.
. "${0%/*}/lib.sh"
need virsh
! grep -q __asan_init "$VMGEN" || skip_all "ASan wants libvirt from the start"

# loaded COMMAND...: shared objects whose code was run, early or late.
loaded() { LD_DEBUG=files "$@" 2>&1 >/dev/null | sed -n 's/.*calling init: //p'; }

host=policies/hosts/two-socket-40.yaml
"$VMGEN" render --host $host policies/pinned.yaml >"$TMP/guest.xml" 2>/dev/null
for command in \
	"render --host $host policies/pinned.yaml" \
	"render policies/pinned.yaml" \
	"rewrite --host $host policies/pinned.yaml $TMP/guest.xml" \
	"diff --host $host policies/pinned.yaml $TMP/guest.xml" \
	"lint policies" \
	"host" \
	"rules" \
	"schema"; do
	# shellcheck disable=SC2086 # words of a command
	files=$(loaded "$VMGEN" $command)
	like "$files" 'libc\.so' "${command%% *}: what is loaded can be seen"
	is "$(grep libvirt <<<"$files")" "" "${command%% *} does not load libvirt"
done
like "$(loaded virsh --version)" libvirt "control: virsh does"
done_testing

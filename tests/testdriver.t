#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What is rendered is valid by libvirt's schema, and libvirt keeps all of it: it drops
# elements that it does not know without a word. Its test driver needs no root.
. "${0%/*}/lib.sh"
need virsh virt-xml-validate xmllint perl

# facts XML: "/domain/vcpu@placement=static", a line for each attribute and text.
facts() {
	xmllint --format "$1" | perl -ne '
		next if /^\s*<[?!]/;
		if (m{^\s*</}) { pop @path; next }
		my ($name, $attributes, $empty, $text) =
			m{^\s*<([\w:.-]+)((?:\s[^<>]*?)?)(/?)>(.*)} or next;
		my $path = join "/", @path, $name;
		print "$path\n";
		print "$path\@$1=$2\n" while $attributes =~ m{([\w:.-]+)="([^"]*)"}g;
		if ($text =~ m{^(.*)</}) { print "$path=$1\n" }
		elsif (!$empty) { push @path, $name }'
}

# lost XML NAME: what of it libvirt no longer has once the guest is defined, in kept.xml;
# without what it says in other words (one queue is none, a list of vCPUs becomes a row each).
lost() {
	virsh -q -c test:///default "define $1; dumpxml --inactive $2" \
		>"$TMP/said" 2>&1
	sed -n '/^<domain/,$p' "$TMP/said" >"$TMP/kept.xml"
	[ -s "$TMP/kept.xml" ] || cat "$TMP/said"
	comm -23 <(facts "$1" | sort -u) <(facts "$TMP/kept.xml" | sort -u) |
		grep -vE '/interface/driver@queues=1$|/vcpusched@vcpus='
}

on_host=(--host policies/hosts/two-socket-40.yaml
	--host-policy policies/hosts/two-socket-40.host-policy.yaml)
for policy in policies/*.yaml; do
	name=$(basename "$policy" .yaml)
	xml=$TMP/$name.xml
	ok "$name: renders" "$VMGEN" render "$policy" "${on_host[@]}" || continue
	"$VMGEN" render "$policy" "${on_host[@]}" >"$xml" 2>/dev/null
	ok "$name: valid by the schema" virt-xml-validate "$xml" domain
	is "$(lost "$xml" "$(xmllint --xpath 'string(/domain/name)' "$xml")")" "" \
		"$name: libvirt keeps every element and attribute"
	is "$("$VMGEN" diff "$policy" "$TMP/kept.xml" "${on_host[@]}" 2>/dev/null)" "" \
		"$name: what libvirt made of it conforms"
done

# The control: what libvirt does not know is missed.
sed 's,<devices>,<iothreeds>2</iothreeds>&,' "$xml" >"$TMP/control.xml"
like "$(lost "$TMP/control.xml" "$(xmllint --xpath 'string(/domain/name)' "$xml")")" \
	'iothreeds' "control: an element that libvirt does not know is missed"
done_testing

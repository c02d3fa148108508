# SPDX-License-Identifier: LGPL-2.1-or-later
# Manual page entries of a policy's fields, from the schema that `vmgen schema` prints:
#
#	vmgen schema policy | jq -r -f generator/man/fields.jq

def text: gsub("\\\\"; "\\e");
def literal: text | gsub("-"; "\\-") | gsub("\""; "\\(dq");

def entry($path; $required):
	".TP",
	".B " + ($path | literal) + (if $required then " \\fR(required)" else "" end),
	(.description | text),
	(.examples // [] | .[] | "Example:\n.BR \"" + (tostring | literal) + "\" .");

def fields($path):
	(.items // .) as $group | $group.properties // {} | to_entries[]
	| .key as $key | ($group.required // []) as $required
	| ($path + $key) as $here
	| (.value | entry($here; $required | index($key))),
	  (.value | fields($here + (if .type == "array" then "[]." else "." end)));

fields("")

# SPDX-License-Identifier: LGPL-2.1-or-later
# libvirt's embedded driver: real QEMU under TCG without a daemon, and what /proc says of
# its threads and memory. To be sourced after lib.sh, in a script that embed_enter() runs
# anew in mount and pid namespaces of its own: whatever happens, nothing stays behind.

# embed_enter SCRIPT: does not return outside; inside it does.
embed_enter() {
	local script

	[ -z "${EMBED_TAP:-}" ] || return 0
	[ "$(id -u)" = 0 ] || skip_all "needs root, for namespaces and hugepages"
	unshare -m -p -f --mount-proc true 2>/dev/null ||
		skip_all "this machine lets root make no namespaces"
	script=$(realpath "$1")
	EMBED_TAP=$TMP/tap EMBED_DIR=$(mktemp -d "$O/embed.XXXXXX") export EMBED_TAP EMBED_DIR
	# The first process of the namespace must reap what QEMU leaves, as init does. All of
	# them die with unshare; in the background, so that a signal is heeded at once.
	TMPDIR=$EMBED_DIR unshare -m -p -f --mount-proc --kill-child \
		sh -c '"$0"; exit $?' "$script" &
	EMBED_NAMESPACE=$!
	wait $EMBED_NAMESPACE
	if [ -s "$EMBED_TAP" ]; then
		read -r tap_run tap_failed <"$EMBED_TAP"
	else
		result 1 "the test came to its end"
	fi
	is "$(grep -F "$EMBED_DIR" /proc/mounts; pgrep -af "$EMBED_DIR")" "" \
		"no mount, no process stays"
	done_testing
}

cleanup() {
	[ -n "${EMBED_NAMESPACE:-}" ] || return
	kill -KILL "$EMBED_NAMESPACE" && wait "$EMBED_NAMESPACE"
	embed_pages_back
	rm -rf "$EMBED_DIR"
} 2>/dev/null

# embed_begin: users, a hugetlbfs, and one virsh that holds the driver.
embed_begin() {
	mount --make-rprivate /
	embed_users
	mkdir -p "$EMBED_DIR/root/etc" "$EMBED_DIR/huge" "$EMBED_DIR/disks" "$EMBED_DIR/run"
	mount -t hugetlbfs -o pagesize=2M none "$EMBED_DIR/huge"
	cat >"$EMBED_DIR/root/etc/qemu.conf" <<-END
		user = "root"
		group = "root"
		security_driver = "none"
		cgroup_controllers = []
		namespaces = []
		stdio_handler = "file"
		hugetlbfs_mount = "$EMBED_DIR/huge"
	END
	coproc VIRSH { exec stdbuf -oL virsh -q -c "qemu:///embed?root=$EMBED_DIR/root" 2>&1; }
	embed_virsh version >/dev/null
}

# Run by root, the driver wants a user that only the daemon's package makes.
embed_users() {
	cp /etc/passwd /etc/group "$TMP"
	getent passwd libvirt-qemu >/dev/null ||
		echo 'libvirt-qemu:x:64055:64055::/:/bin/false' >>"$TMP/passwd"
	getent group libvirt-qemu >/dev/null ||
		echo 'libvirt-qemu:x:64055:' >>"$TMP/group"
	mount --bind "$TMP/passwd" /etc/passwd
	mount --bind "$TMP/group" /etc/group
}

# embed_virsh COMMAND...: prints what it says; fails if that is an error.
embed_virsh() {
	local line said=''

	# It ends the line of an echo only where the next command does.
	printf '%s\necho THE-END\n\n' "$*" >&"${VIRSH[1]}" || return 1
	while IFS= read -r -t 200 line <&"${VIRSH[0]}"; do
		[[ $line != THE-END* ]] || break
		[[ $line = virsh\ * ]] || said+=$line$'\n'
	done
	printf '%s' "$said"
	[[ $line = THE-END* && $'\n'$said != *$'\n'error:* ]]
}

# embed_end: tells what was counted to the script outside.
embed_end() {
	echo quit >&"${VIRSH[1]}"
	wait "$VIRSH_PID"
	echo "$tap_run $tap_failed" >"$EMBED_TAP"
	exit 0
}

# embed_pages COUNT: so many more hugepages of 2 MiB, if they are to be had.
embed_pages() {
	embed_pages_change "$1" >"$EMBED_DIR/pages"
	[ "$(cat "$EMBED_DIR/pages")" = "$1" ]
}

embed_pages_back() {
	[ ! -s "$EMBED_DIR/pages" ] || embed_pages_change "-$(cat "$EMBED_DIR/pages")"
}

# embed_pages_change NUMBER: prints by how many there are more now. Other tests do the same.
embed_pages_change() {
	local pool=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages before

	# shellcheck disable=SC2094 # to lock it
	{
		flock 9
		before=$(cat $pool)
		echo $((before + $1)) >$pool
		echo $(($(cat $pool) - before))
	} 9<$pool
}

# embed_start XML: the guest, defined with validation and started paused.
embed_start() {
	local path

	EMBED_GUEST=$(values "$1" '/domain/name/text()')
	for path in $(values "$1" '//disk/source/@file'); do
		qemu-img create -q -f "$(values "$1" \
			"//disk[source/@file='$path']/driver/@type")" "$path" 80G
	done
	embed_peers "$1"
	embed_virsh "define --validate $1" && embed_virsh "start --paused $EMBED_GUEST" &&
		EMBED_PID=$(cat "$EMBED_DIR/root/run/qemu/$EMBED_GUEST.pid")
}

# The switch's end of each vhost-user socket.
embed_peers() {
	local path mode

	EMBED_PEERS=()
	for path in $(values "$1" "//interface[@type='vhostuser']/source/@path"); do
		mode=listen
		[ "$(values "$1" "//source[@path='$path']/@mode")" = client ] || mode=connect
		"$O/tests/libvirt/vhost-peer" $mode "$path" 8 &
		EMBED_PEERS+=($!)
		[ $mode = connect ] || embed_wait test -S "$path"
	done
}

embed_wait() {
	local tries=100

	while ((tries--)); do
		! "$@" || return 0
		sleep 0.05
	done
	return 1
}

embed_stop() {
	local peer

	embed_virsh "destroy $EMBED_GUEST" >/dev/null
	embed_virsh "undefine $EMBED_GUEST" >/dev/null
	for peer in "${EMBED_PEERS[@]}"; do
		kill "$peer" && wait "$peer"
	done 2>/dev/null
	rm -f "$EMBED_DIR"/run/* "$EMBED_DIR"/disks/*
}

# values XML XPATH: of attributes or text, one a line.
values() {
	xmllint --xpath "$2" "$1" 2>/dev/null | sed -nE 's/^ *[^=]+="([^"]*)"$/\1/p; t; /./p'
}

# expand LIST...: of the first that is not empty, "0-2,^1,8" as "0 2 8".
expand() {
	local part list cpu
	local -A in=()

	for list; do
		[ -z "$list" ] || break
	done
	for part in ${list//,/ }; do
		case $part in
		^*) unset "in[${part#^}]" ;;
		*) for cpu in $(seq "${part%-*}" "${part#*-}"); do in[$cpu]=1; done ;;
		esac
	done
	printf '%s\n' "${!in[@]}" | sort -n | paste -sd' '
}

# threads_planned XML: what its cputune says, a line for each thread.
threads_planned() {
	local xml=$1 pool n iothreads

	pool=$(expand "$(values "$xml" '/domain/vcpu/@cpuset')" \
		"$(cat /sys/devices/system/cpu/online)")
	pool=${pool// /,}
	echo "emulator: $(expand "$(values "$xml" '//emulatorpin/@cpuset')" "$pool")"
	for ((n = 0; n < $(values "$xml" '/domain/vcpu/text()'); n++)); do
		echo "CPU $n: $(expand "$(values "$xml" "//vcpupin[@vcpu='$n']/@cpuset")" \
			"$pool")$(scheduler_planned "$xml" "$n")"
	done
	iothreads=$(values "$xml" '/domain/iothreads/text()')
	for ((n = 1; n <= ${iothreads:-0}; n++)); do
		echo "IO iothread$n: $(expand \
			"$(values "$xml" "//iothreadpin[@iothread='$n']/@cpuset")" "$pool")"
	done
}

scheduler_planned() {
	local vcpus scheduler

	vcpus=$(values "$1" '//vcpusched/@vcpus')
	[[ " $(expand "$vcpus") " != *" $2 "* ]] && return
	scheduler=$(values "$1" '//vcpusched/@scheduler')
	echo " $scheduler $(values "$1" '//vcpusched/@priority')"
}

# threads_seen PID: the same, from the kernel.
threads_seen() {
	local task name

	echo "emulator: $(allowed "/proc/$1")"
	for task in "/proc/$1"/task/*; do
		name=$(cat "$task/comm")
		case $name in
		CPU\ * | IO\ iothread*)
			echo "${name%/*}: $(allowed "$task")$(scheduler_seen "$task")" ;;
		esac
	done | sort -V
}

allowed() { expand "$(sed -n 's/^Cpus_allowed_list:\t//p' "$1/status")"; }

# Fields of /proc/PID/stat behind the name: see proc(5), 40 and 41.
scheduler_seen() {
	sed 's/.*) //' "$1/stat" | awk '{
		split("fifo rr batch - idle", policy, " ")
		if ($39)
			print " " policy[$39] " " $38
	}'
}

# kib XML XPATH: a size with its unit attribute, in KiB.
kib() {
	local number unit

	number=$(values "$1" "$2/text()")
	unit=$(values "$1" "$2/@unit")
	case ${unit:-KiB} in
	KiB) echo "$number" ;;
	MiB) echo $((number * 1024)) ;;
	GiB) echo $((number * 1024 * 1024)) ;;
	*) echo "unit $unit" ;;
	esac
}

# memory_planned XML: KiB, size of pages, policy as numa_maps says it; for each guest cell.
memory_planned() {
	local xml=$1 size policy cells n

	size=$(values "$xml" '//hugepages/page[1]/@size')
	cells=$(values "$xml" 'count(//cpu/numa/cell)')
	if [ "$cells" = 0 ]; then
		echo "$(kib "$xml" /domain/memory) ${size:-4} $(policy_planned "$xml" //numatune/memory)"
		return
	fi
	for ((n = 0; n < cells; n++)); do
		policy=$(policy_planned "$xml" "//memnode[@cellid='$n']")
		[ "$policy" != default ] || policy=$(policy_planned "$xml" //numatune/memory)
		echo "$(values "$xml" "//cell[@id='$n']/@memory") ${size:-4} $policy"
	done | sort
}

policy_planned() {
	local nodes

	nodes=$(values "$1" "$2/@nodeset")
	case $(values "$1" "$2/@mode") in
	strict) echo "bind:$nodes" ;;
	preferred) echo "prefer:$nodes" ;;
	interleave) echo "interleave:$nodes" ;;
	*) echo default ;;
	esac
}

# memory_seen PID KIB...: the same of all mappings of these sizes.
memory_seen() {
	local pid=$1
	shift

	awk -v sizes="$*" '
		FILENAME ~ /numa_maps/ { policy[$1] = $2; next }
		/^[0-9a-f]+-[0-9a-f]+ / { split($1, range, "-") }
		/^Size:/ { size = $2 }
		/^KernelPageSize:/ && index(" " sizes " ", " " size " ") {
			print size, $2, policy[range[1]]
		}' "/proc/$pid/numa_maps" "/proc/$pid/smaps" | sort
}

#!/bin/bash
# SPDX-License-Identifier: MIT
# containers: a target in mount, PID and user namespaces of its own, on an overlay
# as its root, read-only, with nothing but its own files, without /proc, or where
# no memfd may be executable: traced from outside, and as it was afterwards.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need unshare mount
unshare --user --map-root-user --mount --pid --fork true 2>unshare.err ||
	skip "namespaces are not permitted here: $(cat unshare.err)"

# image DIR PROGRAM: with what it needs, and nothing else.
image()
{
	local lib

	mkdir -p "$1"/{lower,upper,proc}
	cp "$2" "$1/lower/program"
	{ ldd "$2" 2>/dev/null || true; } | grep -o '/[^ ]*' >libs || true
	while read -r lib; do
		mkdir -p "$1/lower$(dirname "$lib")"
		cp "$lib" "$1/lower$lib"
	done <libs
	mkdir -p "$1/lower/proc"
}

# What goes before the program within the namespaces; $1 is the image.
cat >enter.sh <<'SH'
set -e
image=$1 options=$2 proc=$3 memfd=$4
shift 4
mount -t tmpfs none "$image/upper"
mkdir "$image/upper/changes" "$image/upper/work" "$image/upper/root"
root=$image/upper/root
mount -t overlay overlay "$root" -o "lowerdir=$image/lower,upperdir=$image/upper/changes,workdir=$image/upper/work"
case $proc in
proc) mount -t proc proc "$root/proc" ;;
false) mkdir "$root/proc/self" ;;
esac
[ "$memfd" = 0 ] || echo "$memfd" >/proc/sys/vm/memfd_noexec
[ "$options" = rw ] || mount -o "remount,$options,bind" "$root" 2>/dev/null || mount -o remount,ro "$root"
exec chroot "$root" /program "$@"
SH

# contained NAMESPACES OPTIONS PROC MEMFD PROGRAM [ARG...]: a victim in a container.
contained()
{
	local namespaces=$1 options=$2 proc=$3 memfd=$4 program=$5 outer

	rm -rf box victim.in
	image "$PWD/box" "$program"
	mkfifo victim.in
	: >victim.out
	# shellcheck disable=SC2086 # options, one word each
	unshare $namespaces --fork --kill-child --mount-proc sh "$PWD/enter.sh" "$PWD/box" \
		"$options" "$proc" "$memfd" "${@:6}" <victim.in >victim.out 2>victim.err 9>&- &
	outer=$!
	started "$outer"
	exec 9>victim.in
	wait_until 30 has_line '^ready$' victim.out || return 1
	VICTIM=$(cat "/proc/$outer/task/$outer/children")
	VICTIM=${VICTIM% }
	started "$VICTIM"
}

# traced_there WHAT NAMESPACES OPTIONS PROC MEMFD PROGRAM: visited twice, as a later
# visit uses what the first has left.
traced_there()
{
	contained "${@:2}" 2 || {
		echo "$1: no such container here: $(tail -n 1 victim.err)"
		exec 9>&-
		VICTIM=
		return 0
	}
	for _ in 1 2; do
		status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -d 0.3 -v
		traced spin_leaf
		removed
	done
	echo "$1: $(closing calls) calls"
	ran=$((ran + 1))
	victim_quit
}

ran=0
all="--mount --pid"
user="--user --map-root-user $all"
dynamic=$VICTIMS/spin_threads
traced_there "user namespace" "$user" rw proc 0 "$dynamic"
traced_there "read-only, nothing executable but what is there" "$all" ro,nosuid,nodev proc 0 \
	"$dynamic"
traced_there "no /proc" "$user" rw none 0 "$dynamic"
traced_there "a /proc that is none" "$user" rw false 0 "$dynamic"
traced_there "no memfds that are executable unasked" "$all" rw proc 1 "$dynamic"
traced_there "no executable memfds" "$all" rw proc 2 "$dynamic"
for kind in static musl_static; do
	program=$VICTIMS/kinds/$kind/spin_threads
	[ ! -x "$program" ] ||
		traced_there "nothing but one file, read-only ($kind)" "$user" ro none 0 "$program"
done
[ $ran -gt 0 ] || skip "no container could be made"

#!/bin/bash
# SPDX-License-Identifier: MIT
# limits: what a limit of the target forbids is refused before anything is tried, by
# the limit's name, and works when there is room. A limit that only the target's own
# writing would meet (RLIMIT_FSIZE, whose signal kills) is not met.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need prlimit
field() { sed -n "s/^$1:[^0-9]*\([0-9]*\).*/\1/p" "/proc/$VICTIM/status"; }
limit() { prlimit --pid "$VICTIM" "--$1=$2:unlimited"; }
maps() { wc -l <"/proc/$VICTIM/maps"; }
begin() { rm -f victim.in && victim "$@"; }

# Nothing was mapped and no descriptor opened: it was not even tried.
not_tried()
{
	local before

	before=$(maps)
	status 1 "$INJECT" -p "$VICTIM" -f "$1" -d 1
	refused "$2"
	[ "$(maps)" = "$before" ] || die "something was mapped"
	unharmed
}

traced_now()
{
	inject_until "$1" -p "$VICTIM" -f "$1*" "${@:2}"
	removed
}

# One of inject's own.
begin spin_threads 2
for blocks in 100 1000; do
	(ulimit -f $blocks; status 1 "$INJECT" -p "$VICTIM" -f 'spin_*' -d 1)
	refused 'File too large'
	unharmed
done
victim_quit

hard=$(prlimit --nofile --output HARD --noheadings)
for kind in spin_threads single; do
	begin $kind 2
	func=${kind%_threads}_

	limit as $((($(field VmSize) + 1024) * 1024))
	not_tried "$func*" 'RLIMIT_AS leaves'

	# Where little is left we take no more than a quarter of that, or as much as it takes.
	for room in 150000 600000; do
		limit as $((($(field VmSize) + room) * 1024))
		before=$(field VmSize)
		traced_now "$func"
		took=$(($(field VmSize) - before))
		[ $room = 150000 ] || [ $took -lt $((room / 4)) ] || die "took $took kB of $room"
		[ $took -gt 90000 ] || die "only $took kB were mapped"
		limit as unlimited
		victim_quit
		begin $kind 2
	done

	# What a visit can do the next one can, too, and each says that its buffers are small.
	limit as $((($(field VmSize) + 220000) * 1024))
	for _ in 1 2; do
		traced_now "$func" -a --stack
		grep -q "buffer has 256 KiB instead of" trace.err || die "nothing is said of buffers"
	done
	limit as unlimited
	victim_quit
	begin $kind 2

	limit fsize 8192	# more than the victim writes, less than we map
	traced_now "$func"

	# An inject that may open what is mapped needs no descriptor there.
	prlimit --pid "$VICTIM" --nofile=4:"${hard// /}"
	if opens_mappings; then
		traced_now "$func"
	else
		not_tried "$func*" 'RLIMIT_NOFILE is 4'
	fi
	prlimit --pid "$VICTIM" --nofile="${hard// /}:${hard// /}"

	# A later visit that needs more room for stubs; the session is there.
	limit as $((($(field VmSize) + 64) * 1024))
	not_tried '*@libc.so*' 'RLIMIT_AS leaves'
	limit as unlimited
	victim_quit
done

# A server that limits the children that it forks: what they have left is what counts.
begin forker
child=$(tell fork '^child' | cut -d' ' -f2)
before=$(field VmSize)
prlimit --pid "$child" "--as=$(((before + 200000) * 1024)):unlimited"
traced_now fork_
took=$(($(field VmSize) - before))
[ $took -lt 190000 ] || die "took $took kB, and its children may have 200000 kB more"
tell reap '^reaped 1'
victim_quit
begin forker
child=$(tell fork '^child' | cut -d' ' -f2)
prlimit --pid "$child" "--as=$((($(field VmSize) + 20000) * 1024)):unlimited"
not_tried 'fork_*' 'RLIMIT_AS leaves'
tell reap '^reaped 1'
victim_quit

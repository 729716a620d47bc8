#!/bin/bash
# SPDX-License-Identifier: MIT
# leader_ends: the main thread ends while the process is traced: tracing goes
# on, and all is removed; also by `stop`, when inject was killed. A process that has
# no main thread any more is traced as others are.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

lines() { wc -l <trace.out; }
more_lines() { [ "$(lines)" -gt "$1" ]; }

field() { sed -n "s/^$1:[^0-9]*\([0-9]*\).*/\1/p" "/proc/$VICTIM/task/$tid/status"; }
# KiB of the session that are memory. (What status has of it is only near it in kernels
# that count for each processor by itself.)
shared()
{
	awk '/^[0-9a-f]+-/ { is = /inject-session/ } is && /^Rss:/ { n += $2 } END { print n + 0 }' \
		"/proc/$VICTIM/task/$tid/smaps"
}
more_shared() { [ "$(shared)" -gt "$1" ]; }

leave() { tid=$(tell leave '^left' | cut -d' ' -f2); }

leave_while_traced()
{
	rm -f victim.in
	victim leaderless
	inject_bg -p "$VICTIM" -f 'orphan_*'
	leave
	wait_until 30 more_lines $(($(lines) + 20)) || die "nothing more is recorded"
}

as_before()
{
	victim_works
	clean "$tid"
}

visit()
{
	status 0 "$INJECT" -p "$VICTIM" -f 'orphan_*' -d 0.2
	traced orphan_work
	has_line 'all probes removed, text verified' trace.err || die "not removed"
	as_before
}

leave_while_traced
inject_end
has_line 'all probes removed, text verified' trace.err || die "not removed"
as_before
visit

leave_while_traced
kill -KILL "$TRACER"
wait "$TRACER" || true
status 0 "$INJECT" stop -p "$VICTIM"
as_before
status 0 "$INJECT" stop -p "$VICTIM"

rm -f victim.in
victim leaderless
leave
visit
visit
status 0 "$INJECT" count -p "$VICTIM" -f 'orphan_*' -d 0.2
has_line orphan_work trace.out || die "nothing is counted"
status 0 "$INJECT" start -p "$VICTIM" -f 'orphan_*'
status 0 "$INJECT" snapshot -p "$VICTIM" -o kept
status 0 "$INJECT" replay kept
traced orphan_work
status 0 "$INJECT" stop -p "$VICTIM"
as_before

# A session in a file wants a descriptor of the process: before Linux 6.9 only the main
# thread's can be had.
got=0 dir=.
# On an overlay there may be no room for what is there: no session is kept on one.
[ "$(stat -f -c %T .)" != overlayfs ] || dir=$(mktemp -d /dev/shm/leader_ends.XXXXXX)
"$INJECT" start -p "$VICTIM" -f 'orphan_*' -o "$dir/kept_in_file" 2>trace.err || got=$?
[ $got = 0 ] || refused 'take a socket'
status 0 "$INJECT" stop -p "$VICTIM"
[ "$dir" = . ] || rm -r "$dir"
as_before
victim_quit

# What is to be had by another thread only: whether memory is locked, and the rings' memory,
# which is given back.
victim leaderless locks
leave
visit
locked=$(field VmLck)
[ "$locked" -lt 200000 ] || die "$locked KiB are locked"
victim_quit

victim leaderless
leave
status 0 "$INJECT" start -p "$VICTIM" -f 'orphan_*'
wait_until 30 more_shared 48 || die "few of the rings' memory: $(shared) KiB"
status 0 "$INJECT" stop -p "$VICTIM"
! more_shared 40 || die "$(shared) KiB of the rings stay"
as_before

#!/bin/bash
# SPDX-License-Identifier: MIT
# reader_killed: when inject is killed, the recording that is not read is switched off
# by itself, where there is room left in the rings and where there is none. While
# inject is only stopped, calls are recorded and counted.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

THREADS=2
rings() { "$BUILD/tests/tools/rings" "$VICTIM" >rings.out; }
held() { rings; [ "$(cut -d' ' -f6 rings.out)" = $THREADS ]; }
recording() { rings; [ "$(cut -d' ' -f8 rings.out)" -gt "${1:-0}" ]; }
is_closed() { rings; has_line '^state 2 ' rings.out; }

# Off: nothing is written or counted any more, while the target works.
switched_off()
{
	kill -KILL "$TRACER"
	wait "$TRACER" || true
	wait_until 20 is_closed || die "records for no reader: $(cat rings.out)"
	victim_works
	wait_until 20 is_quiet || die "goes on after the end: $(cat rings.out)"
	status 0 "$INJECT" stop -p "$VICTIM"
	unharmed
}

# Each thread finishes the sub-buffer that it has.
is_quiet()
{
	local before

	rings
	before=$(cat rings.out)
	victim_works
	rings
	[ "$(cat rings.out)" = "$before" ]
}

victim spin_threads $THREADS
# Rings that are full: they have dropped, and are not read.
inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null -m 128K
kill -STOP "$TRACER"
wait_until 20 held || die "the rings are not full: $(cat rings.out)"
! is_closed || die "is off although inject lives"
switched_off

# Rings that are not: killed as soon as one was begun.
inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null -m 64M
wait_until 20 recording || die "nothing is recorded"
switched_off

# And it is on again with the next one.
status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -n 100
traced spin_leaf
removed

#!/bin/bash
# SPDX-License-Identifier: MIT
# cycles_200: 200 attach and detach cycles on threads that do nothing but call
# the probed functions. No crash, no probe lost, every call counted.
# timeout: 300
# serial: the load of other tests would stretch it
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# One in ten cycles counts exactly: count_* are called in a phase only, while
# spin_* of the same pages are called all the time.
cycle_exact()
{
	local made

	inject_bg -p "$VICTIM" -f 'count_*' -o /dev/null --max-pause 2s
	tell pace '^ok pace' >/dev/null
	sleep 0.1
	made=$(tell end '^counted' | cut -d' ' -f2)
	inject_end
	[ "$(closing lost)" = 0 ] || die "cycle $i: lost $(closing lost)"
	[ "$(closing calls)" = "$made" ] || die "cycle $i: $made calls made, $(closing calls) recorded"
}

victim spin_threads 3
n=$(threads "$VICTIM")
cycles=200
[ -n "${SOAK:-}" ] && cycles=4000
for i in $(seq $cycles); do
	if [ $((i % 10)) = 0 ]; then
		cycle_exact
	else
		status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -f 'count_*' -d 0.02 -o /dev/null --max-pause 2s
		[ "$(closing functions)" = 7 ] || die "cycle $i: $(closing functions) functions probed"
	fi
	has_line 'all probes removed, text verified' trace.err || die "cycle $i: not removed"
	clean
done
victim_works
[ "$(threads "$VICTIM")" = "$n" ] || die "a thread of ours stayed"

#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_loops: many visits to threads that stand in loops whose heads our jumps
# cover. One call is one entry and one exit, however often it goes round.
# long: 20
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# exact MODE: every call of a counted phase has an entry and an exit.
exact()
{
	local made

	inject_bg -p "$VICTIM" -f 'count_*' -o /dev/null --max-pause 2s
	tell "$1" "^ok $1" >/dev/null
	sleep 0.1
	made=$(tell end '^counted' | cut -d' ' -f2)
	inject_end
	[ "$(closing functions)" = 5 ] || die "$(closing functions) functions probed"
	[ "$made" -gt 0 ] || die "no calls made"
	[ $((2 * made)) = $(($(closing events) + $(closing lost))) ] ||
		die "$made calls made, $(closing events) events, $(closing lost) lost"
}

victim loops 3
status 0 "$INJECT" list -p "$VICTIM" -f 'spin_*' -f 'count_*'
grep -q ' 10 entries .*; 0 entry-only; 0 refused' trace.err || die "not all are probed whole"
cycles=60
[ "${PATIENCE:-1}" -lt 10 ] || cycles=20
[ -n "${SOAK:-}" ] && cycles=2000
for i in $(seq $cycles); do
	if [ $((i % 20)) = 0 ]; then
		exact pace
		[ "$(closing lost)" = 0 ] || die "cycle $i: lost $(closing lost)"
	elif [ $((i % 20)) = 10 ]; then
		exact count
	else
		status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -d 0.01 -o /dev/null --max-pause 2s
		[ "$(closing functions)" = 5 ] || die "cycle $i: $(closing functions) functions"
	fi
	has_line 'all probes removed, text verified' trace.err || die "cycle $i: not removed"
	[ $((i % 5)) != 0 ] || clean
done
victim_works

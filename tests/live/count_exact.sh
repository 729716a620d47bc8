#!/bin/bash
# SPDX-License-Identifier: MIT
# count_exact: calls made while the probes are in = recorded + lost, exactly,
# at a pace that loses nothing and at full speed, other functions running.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# exact MODE: a counted phase of the victim, with the probes in before and
# after it. Every call has an entry and an exit.
exact()
{
	local made events lost

	inject_bg -p "$VICTIM" -f 'count_*' -o /dev/null
	tell "$1" "^ok $1" >/dev/null
	sleep 0.5
	made=$(tell end '^counted' | cut -d' ' -f2)
	inject_end
	removed
	events=$(closing events) lost=$(closing lost)
	echo "$1: made $made, events $events, lost $lost"
	[ "$made" -gt 0 ] || die "no calls made"
	[ $((2 * made)) = $((events + lost)) ] ||
		die "$((2 * made)) events happened, $((events + lost)) accounted"
}

victim spin_threads 3
exact pace
[ "$(closing lost)" = 0 ] || die "lost at a slow pace"
[ "$(closing calls)" = "$(tail -n 5 victim.out | sed -n 's/^counted //p' | tail -n 1)" ] ||
	die "the number of calls is not that of the victim"
exact count

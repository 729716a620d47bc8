#!/bin/bash
# SPDX-License-Identifier: MIT
# overhead: --max-overhead takes out the functions that cost too much, by name,
# and no others: those go on recording. Where jumps share bytes, a function that relies on one
# that goes goes with it. What cannot go at once is said, and tried again.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

all_disarmed()
{
	local name

	for name; do
		has_line "disarmed $name" trace.err || return 1
	done
}

# Calls of the functions that match, by the report of what was recorded.
recorded()
{
	"$INJECT" report data -f "$1" | awk '!/^#/ { n += $5 } END { print n + 0 }'
}

victim spin_threads 2
inject_bg record -p "$VICTIM" -f 'spin_*' -f 'count_*' -o data --max-overhead 2 -m 4M
# Threads that do nothing but call: whatever else runs here, each of these four is
# more than that when its turn comes.
wait_until 30 all_disarmed spin_branch spin_leaf spin_loop spin_switch ||
	die "what does nothing but call is not disarmed: $(cat trace.err)"
has_line 'disarmed count_' trace.err && die "a function was disarmed that is not called"
tell pace '^ok pace' >/dev/null
sleep 0.3
made=$(tell end '^counted' | cut -d' ' -f2)
inject_end
removed
has_line ', 4 disarmed;' trace.err || die "the closing line does not count them"
# The first may have come before there was room again.
kept=$(recorded 'count_*')
[ "$kept" -gt 0 ] && [ "$kept" -le "$made" ] ||
	die "$made calls made of what stays, $kept recorded"
"$INJECT" report data | grep -q '^# 4 functions were taken out meanwhile' ||
	die "the report does not say that functions are missing"

# Nothing is disarmed where it was not asked for, or may cost all.
inject_bg -p "$VICTIM" -f 'spin_*' --json --max-overhead 100 -d 0.3
inject_wait
grep -q '"type":"summary".*"disarmed":0,' trace.out || die "disarmed below the limit"
has_line disarmed trace.err && die "disarmed below the limit, and not counted"
removed
victim_quit

# Likewise where calls are counted or timed in the target; and which of them is most
# expensive is known there, too.
victim spin_threads 2
for way in count hist top; do
	inject_bg $way -p "$VICTIM" -f 'spin_*' -f 'count_*' --json --max-overhead 0.5
	wait_until 30 all_disarmed spin_branch spin_leaf spin_loop spin_switch ||
		die "$way: not disarmed: $(cat trace.err)"
	has_line 'disarmed count_' trace.err && die "$way: disarmed what is not called"
	inject_end
	removed
	has_line ', 4 disarmed;' trace.err || die "$way: the closing line does not count them"
	inject_bg $way -p "$VICTIM" -f 'spin_*' -o /dev/null --max-overhead 100 -d 0.7
	inject_wait
	removed
	has_line disarmed trace.err && die "$way: disarmed below the limit"
done
status 2 "$INJECT" count -p "$VICTIM" -f x --follow-fork --max-overhead 5
refused 'do not go together'
victim_quit

# Windows that share bytes: on x86-64 alone.
[ "$(uname -m)" = x86_64 ] && percents='25 10 0.5%' || percents=
[ -z "$percents" ] || victim packed 2
for percent in $percents; do
	inject_bg -p "$VICTIM" -f 'busy_*' -f 'pack_*' -o /dev/null \
		--max-overhead "$percent" --max-pause 2s
	wait_until 30 has_line disarmed trace.err || die "nothing is disarmed at $percent"
	# Those that stay are called, too.
	tell pace '^ok pace' >/dev/null
	tell end '^counted' >/dev/null
	inject_end
	removed
	has_line ', [1-9][0-9]* disarmed;' trace.err || die "the closing line does not count them"
done
[ -z "$percents" ] || victim_quit

# While a child shares the memory nothing can be taken out: that is said, and tried again.
victim vforker
inject_bg -p "$VICTIM" -f 'share_*' -o /dev/null --max-overhead 0.01
tell linger '^done' >/dev/null
wait_until 120 has_line 'could not be taken out yet: process [0-9]* shares the memory' trace.err ||
	die "not said what it waits for: $(cat trace.err)"
tell part '^done' >/dev/null
wait_until 60 all_disarmed share_work || die "not tried again: $(cat trace.err)"
[ "$(grep -c 'taken out yet' trace.err)" = 1 ] || die "said more than once"
inject_end
removed

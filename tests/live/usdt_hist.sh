#!/bin/bash
# SPDX-License-Identifier: MIT
# usdt_hist: how the values of places for tracers are spread, of a process and of a recording, and
# calls told apart by them: each has the numbers that the program has made, be it one place or two
# of one name.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need jq

# spread FILE PLACE: how many calls, known, and from which to which.
spread()
{
	jq -c --arg place "$2" 'select(.type == "hist" and .func == $place)' "$1"
}

victim usdt
"$INJECT" hist -p "$VICTIM" --json -f us:tick:arg1 --usdt 'us:tw*:arg1' --usdt 'us:to*:arg1' \
	-f us_round >hist.json 2>trace.err 9>&- &
TRACER=$!
started $TRACER
wait_until 60 attached
[ "$(tell 'run 1000' '^ran')" = "ran 1000 tick 1000 tock 1000" ] || die "not asked for"
inject_end
removed
inject_bg record -p "$VICTIM" --usdt 'us:t*' -f us_round
tell 'run 1000' '^ran' >/dev/null
inject_end
removed
status 0 "$INJECT" hist --json us:tick:arg1 us:tock:arg1 us:twice:arg1
cp trace.out recorded.json
for place in us:tick:1000 us:tock:1000 us:twice:1500; do
	calls=${place##*:} place=${place%:*}
	live=$(spread hist.json "$place")
	[ -n "$live" ] || die "$place is not there: $(cat hist.json)"
	recorded=$(spread recorded.json "$place")
	[ "$live" = "$recorded" ] || die "$place: $live is not $recorded"
	jq -es --argjson calls "$calls" 'length == 1 and .[0].calls == $calls' <<<"$live" >/dev/null ||
		die "$live"
done
for place in us:tick:1000:1000 us:tock:1000:1000 us:twice:1500:1001; do
	values=${place##*:} place=${place%:*}
	calls=${place##*:} place=${place%:*}
	# As many of each value as the recording shows, one by one.
	"$INJECT" replay --json -f "$place" 2>replay.err |
		jq -r --arg f "$place" 'select(.func == $f).args.arg1' | sort | uniq -c |
		awk '{ print $2, $1 }' | sort >made
	status 0 "$INJECT" report --by arg1 --top 2000 --json -f "$place"
	jq -r 'select(.type == "report") | "\(.by.arg1) \(.calls)"' trace.out | sort >told
	cmp -s made told || die "--by: $(diff made told | head -n 4)"
	[ "$(wc -l <told)" = "$values" ] || die "other values: $(head -n 3 told)"
	for short in '' --short-names; do
		status 0 "$INJECT" graph ${short:+"$short"} --by arg1 -f "$place"
		sed -n "s/^.* \([0-9]*\)  $place(arg1=\(.*\))\$/\2 \1/p" trace.out | sort >told
		cmp -s made told || die "graph $short --by: $(diff made told | head -n 4)"
		status 0 "$INJECT" report ${short:+"$short"} -f "$place"
		[ "$(awk '!/^#/ { print $3, $NF }' trace.out)" = "$calls $place" ] ||
			die "report $short: $(cat trace.out)"
	done
done
status 1 "$INJECT" hist -p "$VICTIM" us:tick:arg2
refused 'no such value'
status 3 "$INJECT" hist -p "$VICTIM" us:none:arg1
unharmed

#!/bin/bash
# SPDX-License-Identifier: MIT
# flight: a process goes on recording when inject has left; what its rings hold can
# be read at any time, counts add up exactly, and stop leaves nothing.
# timeout: 360
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# field NAME: of the one line of status.
field()
{
	local names=(pid program state functions since recorded held lost pause) i

	for i in "${!names[@]}"; do
		[ "${names[i]}" = "$1" ] || continue
		sed -n 2p trace.out | cut -f$((i + 1))
	done
}

went_round() { look; [ "$(field held)" -lt "$(field recorded)" ]; }
has_lost() { look; [ "$(field lost)" -gt 0 ]; }
look() { status 0 "$INJECT" status -p "$VICTIM"; }

# phase MODE [CONDITION]: calls are made, so many that 2 * MADE events happen, at least
# until the condition holds.
phase()
{
	tell "$1" "^ok $1" >/dev/null
	sleep 0.2
	wait_until 30 "${2:-true}" || die "$2 never came true"
	MADE=$(tell end '^counted' | cut -d' ' -f2)
	[ "$MADE" -gt 0 ] || die "no calls made"
}

# What status counts is what has happened since `before` events.
adds_up()
{
	look
	echo "$1: made $MADE, $(tail -n +2 trace.out | head -n 1)"
	[ $((2 * MADE)) = $(($(field recorded) + $(field lost) - BEFORE)) ] ||
		die "$((2 * MADE)) events happened since $BEFORE"
	BEFORE=$(($(field recorded) + $(field lost)))
}

victim spin_threads 2
look
has_line 'no probes' trace.err || die "status sees probes"

# The last are kept: nothing is lost, however much comes.
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f 'count_*' -m 256K
BEFORE=0
look
[ "$(field state) $(field functions)" = "recording 3" ] || die "status: $(cat trace.out)"
has_line "^count_frame	spin_threads	entry and exit" trace.out || die "no names"
[ -z "$(pgrep -P $$ -x inject)" ] || die "an inject runs"
phase pace
adds_up pace
phase count went_round
adds_up count
[ "$(field lost)" = 0 ] || die "lost although the last are kept"
HELD=$(field held)

status 0 "$INJECT" snapshot -p "$VICTIM" -o shot
[ "$(stat -c %a shot)" = 700 ] || die "others may read it"
status 0 "$INJECT" info shot
[ "$(sed -n 's/^events\t//p' trace.out)" = "$HELD" ] || die "not what the rings hold"
has_line '^probe' trace.out || die "not what recording costs"
status 0 "$INJECT" report shot --subtract-overhead
status 0 "$INJECT" replay shot
traced 'count_leaf();'
look
[ "$(field held)" = "$HELD" ] || die "the snapshot took something away"

if command -v jq >/dev/null; then
	recorded=$(field recorded)
	status 0 "$INJECT" status -p "$VICTIM" --json
	jq -es --argjson recorded "$recorded" --argjson held "$HELD" --argjson pid "$VICTIM" \
		'.[0].type == "status" and .[0].state == "recording" and .[0].pid == $pid and
		.[0].functions == 3 and .[0].recorded == $recorded and .[0].held == $held and
		(now - .[0].since_ns / 1e9 | . > 0 and . < 3600) and
		([.[1:][] | select(.type == "function") | .func] | sort) ==
			["count_frame", "count_leaf", "count_tail"]' trace.out >/dev/null ||
		die "JSON: $(cat trace.out)"
fi

# Every target is listed, and only while it has probes.
status 0 "$INJECT" status
grep -q "^$VICTIM	spin_threads	recording	" trace.out || die "not listed"

# Another inject that comes does not end it.
for verb in trace record start; do
	status 1 "$INJECT" "$verb" -p "$VICTIM" -f 'spin_*'
	refused 'records by itself'
done
phase pace
adds_up again

status 0 "$INJECT" stop -p "$VICTIM"
unharmed
look
has_line 'no probes' trace.err || die "status sees probes"
status 1 "$INJECT" snapshot -p "$VICTIM" -o shot
refused 'does not record by itself'

# The first are kept: then what comes later is lost, and counted.
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f 'count_*' -m 128K --keep first
BEFORE=0
phase count has_lost
adds_up first
[ "$(field held)" = "$(field recorded)" ] || die "something was overwritten"
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

# And as any other session it is gone with its process.
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f 'count_*'
kill -KILL "$VICTIM"
wait "$VICTIM" || true
status 4 "$INJECT" snapshot -p "$VICTIM" -o shot

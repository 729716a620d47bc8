#!/bin/bash
# SPDX-License-Identifier: MIT
# flight_slow: with start --snapshot-on, the first call that takes too long keeps what
# came before it and some of what came after, however long others go on without an inject; until
# a snapshot has that, which arms it again.
# timeout: 360
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# field N: of the line of status.
field() { sed -n 2p trace.out | cut -f"$1"; }
look() { status 0 "$INJECT" status -p "$VICTIM"; }
state() { look; field 3; }
is() { [ "$(state)" = "$1" ]; }
has_lost_more() { look; [ "$(field 8)" -gt "$1" ]; }
slow() { tell "slow $1" '^slowed' >/dev/null; }

# The first slow call, or the last one that was waited for, is in a snapshot, with the calls of its thread before and (if that had the
# time) after it, and with those of others.
tells_of_slow()
{
	local shot=$1 call

	status 0 "$INJECT" replay "$shot" -f slug_call -t 1s --json
	call=$(jq -s '[.[] | select(.type == "call" and .func == "slug_call")] |
		.[if $waited then -1 else 0 end]' --argjson waited "${2:-false}" trace.out)
	status 0 "$INJECT" replay "$shot" --json
	jq -es --argjson slow "$call" --argjson waited "${2:-false}" 'map(select(.type == "call")) |
		($slow.ts_ns + $slow.dur_ns) as $to | [.[] | select(.tid == $slow.tid)] as $own |
		$slow.dur_ns >= 1000000000 and
		any($own[]; .func == "slug_before" and .ts_ns < $slow.ts_ns) and
		($waited or any($own[]; .func == "slug_after" and .ts_ns >= $to)) and
		any(.[]; .tid != $slow.tid and .ts_ns < $to) and
		($waited or any(.[]; .tid != $slow.tid and .ts_ns >= $to))' trace.out >/dev/null ||
		die "$shot: what was around the slow call is not there"
}

need jq
victim sluggish
for bad in slug_call 'slug_call > 5' '> 5ms' 'slug_call > 0ms'; do
	status 2 "$INJECT" start -p "$VICTIM" -f 'slug_*' --snapshot-on "$bad"
	refused 'wants a function and a time'
done
status 2 "$INJECT" start -p "$VICTIM" -f 'slug_*' --snapshot-on 'slug_call > 1s' --keep first
refused 'needs --keep last'
status 1 "$INJECT" start -p "$VICTIM" -f 'slug_*' --snapshot-on 'slag_call > 1s'
refused 'none of the functions that are probed'
status 1 "$INJECT" start -p "$VICTIM" -f 'slug_*' --entry-only --snapshot-on 'slug_call > 1s'
refused 'the entry is probed only'
status 1 "$INJECT" start -p "$VICTIM" -f '*@*' --snapshot-on '*@* > 1s'
refused 'names [0-9]* functions; at most 16'
unharmed

status 0 "$INJECT" start -p "$VICTIM" -f 'slug_*' -m 256K
status 1 "$INJECT" snapshot -p "$VICTIM" --wait -o shot
has_line 'no call is waited for' trace.err || die "waits for nothing"
status 0 "$INJECT" stop -p "$VICTIM"
status 0 "$INJECT" start -p "$VICTIM" -f 'slug_*' -m 256K --max-overhead 100 \
	--snapshot-on 'slug_call > 1s'
sleep 0.3
is recording || die "it fired by itself"
lost=$(field 8)
slow 1300
wait_until 20 is triggered || die "a slow call was not noticed"
# What comes then is dropped, and counted, once it has filled half of a ring.
wait_until 30 has_lost_more $((lost + 1000000)) || die "the rings go round"
slow 1500
status 0 "$INJECT" snapshot -p "$VICTIM" -o one
has_line 'slug_call took [1-9][0-9.]*  *s in thread' trace.err || die "$(cat trace.err)"
tells_of_slow one
is recording || die "not armed again"

# A snapshot that waits gets the next one.
"$INJECT" snapshot -p "$VICTIM" --wait -o two >wait.out 2>wait.err 9>&- &
WAITER=$!
started "$WAITER"
wait_until 20 has_line 'waiting for a call' wait.err
kill -0 "$WAITER" || die "did not wait"
slow 1300
wait "$WAITER" || die "the waiter failed: $(cat wait.err)"
tells_of_slow two true

# Armed again, rings go round, and nothing is lost any more.
is recording || die "not armed again"
recorded=$(field 6) lost=$(field 8)
goes_on() { look; [ "$(field 6)" -gt $((recorded + 1000000)) ]; }
wait_until 30 goes_on || die "nothing is recorded any more"
look
[ "$(field 8)" -le $((lost + 1000)) ] || die "calls are lost after it was armed again"
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

# A snapshot that waits is told when the process ends, in the words of all verbs.
status 0 "$INJECT" start -p "$VICTIM" -f 'slug_*' --snapshot-on 'slug_call > 1m'
"$INJECT" snapshot -p "$VICTIM" --wait -o three >wait.out 2>wait.err 9>&- &
WAITER=$!
started "$WAITER"
wait_until 20 has_line 'waiting for a call' wait.err
victim_quit
ended=0
wait "$WAITER" || ended=$?
[ "$ended" = 4 ] || die "the waiter ended with $ended: $(cat wait.err)"
has_line "cannot look at $VICTIM" wait.err || die "$(cat wait.err)"

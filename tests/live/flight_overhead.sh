#!/bin/bash
# SPDX-License-Identifier: MIT
# flight_overhead: a process that records by itself loses no more of its time than it
# may: functions that are called too often are disarmed, by name, and no others, with
# no injector there; and come back when they are added again.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

now() { "$INJECT" status -p "$VICTIM" >status.out 2>status.err; }

disarmed()
{
	local name

	now
	for name; do
		grep -q "^$name"$'\t.*, disarmed$' status.out || return 1
	done
}

recorded() { now && awk -F'\t' '$3 == "recording" { print $6 }' status.out; }
goes_on() { [ "$(recorded)" -gt "$before" ]; }

busy='spin_branch spin_leaf spin_loop spin_switch'
victim spin_threads 2
status 0 "$INJECT" start -p "$VICTIM" -f 'spin_*' -f 'count_*' --max-overhead 0.5
# shellcheck disable=SC2086 # one word each
wait_until 60 disarmed $busy || die "not all are disarmed: $(cat status.out)"
[ "$(grep -c ', disarmed$' status.out)" = 4 ] || die "too many are disarmed"
# What stays goes on.
before=$(recorded)
tell pace '^ok pace' >/dev/null
sleep 0.3
tell end '^counted' >/dev/null
[ "$(recorded)" -gt "$before" ] || die "nothing is recorded any more"
status 0 "$INJECT" snapshot -p "$VICTIM" -o data
has_line 'disarmed meanwhile, .* 0.5 % .*spin_loop' trace.err || die "snapshot does not say so"

status 0 "$INJECT" remove -p "$VICTIM" -f spin_leaf
disarmed spin_leaf && die "it was removed"
status 0 "$INJECT" add -p "$VICTIM" -f spin_leaf
wait_until 60 disarmed spin_leaf || die "not disarmed a second time"
status 0 "$INJECT" stop -p "$VICTIM"
has_line 'disarmed meanwhile, .*spin_leaf' trace.err || die "stop does not say so"
unharmed

# Nothing is disarmed where it may cost all.
status 0 "$INJECT" start -p "$VICTIM" -f 'spin_*' --max-overhead 100
before=$(recorded)
wait_until 30 goes_on || die "nothing is recorded"
sleep 0.5
now
has_line ', disarmed' status.out && die "disarmed below the limit"
status 0 "$INJECT" stop -p "$VICTIM"
has_line disarmed trace.err && die "disarmed below the limit, says stop"
unharmed
victim_quit

# A ring that keeps the first, and is full, costs its thread no more than that.
victim spin_threads 2
status 0 "$INJECT" start -p "$VICTIM" -f 'spin_*' --keep first --max-overhead 0.01 -m 512K
# shellcheck disable=SC2086
wait_until 60 disarmed $busy || die "what is dropped goes on to cost"
status 0 "$INJECT" stop -p "$VICTIM"
unharmed
victim_quit

# Where calls are left out they cost something, too, of which no word tells: by a condition that a
# register refuses, one that is asked in C, and by the time that they take.
for sifted in '-w n==1&&k==2 -A spin_leaf(n:ulong,k:int)' '-t 10s' '-w caller==main'; do
	victim spin_threads 2
	# shellcheck disable=SC2086 # several words
	status 0 "$INJECT" start -p "$VICTIM" -f spin_leaf -f 'count_*' $sifted --max-overhead 0.5
	wait_until 60 disarmed spin_leaf || die "$sifted: not disarmed: $(cat status.out)"
	[ "$(grep -c ', disarmed$' status.out)" = 1 ] || die "too many are disarmed"
	rm -rf data
	status 0 "$INJECT" snapshot -p "$VICTIM" -o data
	has_line 'disarmed meanwhile, .* 0.5 % .*spin_leaf' trace.err || die "snapshot does not say so"
	status 0 "$INJECT" stop -p "$VICTIM"
	has_line 'disarmed meanwhile, .*spin_leaf' trace.err || die "stop does not say so"
	unharmed
	victim_quit
done

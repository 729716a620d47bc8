#!/bin/bash
# SPDX-License-Identifier: MIT
# flight_change: functions are added to a session that goes on by itself, and taken
# out of it, one by one and all, while they are called; also where the jumps of some
# keep bytes that the jumps of others would write.
# timeout: 360
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

probed()
{
	status 0 "$INJECT" status -p "$VICTIM"
	sed '1,/^# FUNCTION/d' trace.out | cut -f1
}

victim spin_threads 2
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f spin_leaf
status 0 "$INJECT" add -p "$VICTIM" -f 'count_*'
[ "$(probed | sort | xargs)" = "count_frame count_leaf count_tail spin_leaf" ] ||
	die "probed: $(probed)"
status 3 "$INJECT" add -p "$VICTIM" -f 'count_leaf'
refused 'probed already'
status 3 "$INJECT" add -p "$VICTIM" -f 'no_such_thing'
status 0 "$INJECT" remove -p "$VICTIM" -f 'spin_*' -f count_tail
[ "$(probed | sort | xargs)" = "count_frame count_leaf" ] || die "probed: $(probed)"

# What is recorded is that of these two, whole; and what was recorded before stays.
recorded() { status 0 "$INJECT" status -p "$VICTIM"; sed -n 2p trace.out | cut -f6; }
before=$(recorded)
tell pace '^ok pace' >/dev/null
sleep 0.2
made=$(tell end '^counted' | cut -d' ' -f2)
after=$(recorded)
# Of five calls in a round the one of count_tail is missing.
[ $((5 * (after - before))) = $((8 * made)) ] || die "$made calls, $before to $after events"
status 0 "$INJECT" snapshot -p "$VICTIM" -o shot
status 0 "$INJECT" report shot
has_line count_frame trace.out || die "no count_frame in the report"

status 3 "$INJECT" remove -p "$VICTIM" -f 'spin_*'
refused 'matches'

# A snapshot while they are taken out: none is said to have been disarmed.
for _ in 1 2 3 4 5 6 7 8; do
	status 0 "$INJECT" remove -p "$VICTIM" -f 'count_leaf' >/dev/null
	status 0 "$INJECT" add -p "$VICTIM" -f 'spin_*' -f count_leaf
	"$INJECT" remove -p "$VICTIM" -f 'spin_*' -f count_leaf >removed.txt 2>&1 &
	remover=$!
	while kill -0 $remover 2>/dev/null; do
		rm -rf shot
		"$INJECT" snapshot -p "$VICTIM" -o shot >>shots.txt 2>&1 ||
			die "$(tail -n 1 shots.txt)"
	done
	wait $remover || die "$(cat removed.txt)"
	status 0 "$INJECT" add -p "$VICTIM" -f count_leaf
done
grep -q 'snapshot\|calls\|events' shots.txt || die "$(head -n 3 shots.txt)"
! grep 'disarmed' shots.txt || die "said to be disarmed"
status 0 "$INJECT" add -p "$VICTIM" -f 'spin_*' -N spin_loop
status 0 "$INJECT" remove -p "$VICTIM" -f '*'
has_line "^inject: $VICTIM records nothing any more; inject start -p $VICTIM" trace.err ||
	die "$(cat trace.err)"
unharmed
status 0 "$INJECT" stop -p "$VICTIM"
unharmed
status 1 "$INJECT" add -p "$VICTIM" -f 'spin_*'
refused 'does not record by itself'
status 1 "$INJECT" remove -p "$VICTIM" -f 'spin_*'
refused 'does not record by itself'
victim_quit

# Where all of a static program is probed, no code of its own is left that makes a
# system call and returns: what is added then needs ours.
victim kinds/static/spin_threads 2
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 --max-pause 2s -f '*'
status 0 "$INJECT" remove -p "$VICTIM" -f 'spin_*'
status 0 "$INJECT" add -p "$VICTIM" -f 'spin_*'
status 0 "$INJECT" stop -p "$VICTIM"
unharmed
victim_quit

# An add for whose names there is no room takes none in the journal: a later session
# of all these functions needs that. A file has room for little more than its own.
victim many_functions
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f main -m 128K -o kept
status 1 "$INJECT" add -p "$VICTIM" -f '*' -f '*@*'
refused 'no room in the session for the names'
[ "$(probed)" = main ] || die "probed: $(probed)"
status 0 "$INJECT" stop -p "$VICTIM"
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f '*' -m 128K
status 0 "$INJECT" stop -p "$VICTIM"
unharmed
victim_quit

[ "$(uname -m)" = x86_64 ] || exit 0
victim packed 3
for first in 'busy_[34]' busy_next; do
	status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f "$first"
	status 0 "$INJECT" add -p "$VICTIM" -f 'busy_*' -f 'pack_*'
	victim_works
	tell pace '^ok pace' >/dev/null
	tell end '^counted' >/dev/null
	# busy_3 goes with them, where it is a jump that ends in bytes of theirs.
	status 0 "$INJECT" remove -p "$VICTIM" -f 'busy_[12]' -f 'pack_[1-3]'
	victim_works
	status 0 "$INJECT" stop -p "$VICTIM"
	unharmed
done

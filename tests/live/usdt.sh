#!/bin/bash
# SPDX-License-Identifier: MIT
# usdt: places for tracers: each time that control comes by is seen, their semaphores are raised
# meanwhile and as they were afterwards, whatever becomes of inject, and in children, too.
# timeout: 400
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# semaphores TICK TOCK: are these.
semaphores()
{
	local got

	got=$(tell semaphores '^semaphores')
	[ "$got" = "semaphores $1 $2" ] || die "$got, not $1 $2"
}

# seen NAME: how often, by a table of count.
seen() { awk -v name="$1" '$2 == name { print $1 }' trace.out; }

status 0 "$INJECT" list --usdt='us:[pt]*' "$VICTIMS/usdt"
[ "$(cut -f4 trace.out | sort | uniq -c | awk '{ printf "%s %s;", $1, $2 }')" = \
	"1 us:plain;1 us:tick;1 us:tock;2 us:twice;" ] || { cat trace.out; die "others are listed"; }
[ "$(cut -f7 trace.out | sort | uniq -c | awk '{ printf "%s;", $1 }')" = "3;1;1;" ] ||
	die "other semaphores are listed"
! cut -f8 trace.out | grep -v '^u64 ' || die "arguments are not known"
status 0 "$INJECT" list --usdt='us:t[io]*' -f us_round "$VICTIMS/usdt"
[ "$(wc -l <trace.out)" = 3 ] || die "other than three are listed"
status 3 "$INJECT" list --usdt='us:none' "$VICTIMS/usdt"
grep -q 'there are: .*us:twice' trace.err || die "it is not said which there are"

victim usdt
status 1 "$INJECT" -p "$VICTIM" --usdt us:tick -w 'caller == us_round'
has_line 'not known at a place within it' trace.err || die "of a place: $(cat trace.err)"
semaphores 0 0
for round in 1 2; do
	inject_bg count -p "$VICTIM" --usdt 'us:*'
	semaphores 1 1
	[ "$(tell 'run 1000' '^ran')" = "ran 1000 tick 1000 tock 1000" ] || die "not asked for"
	inject_end
	removed
	semaphores 0 0
	[ "$(seen us:plain) $(seen us:twice) $(seen us:tick) $(seen us:tock)" = \
		"1000 1500 1000 1000" ] || { cat trace.out; die "not as many in round $round"; }
done
[ "$(tell 'run 1000' '^ran')" = "ran 1000 tick 0 tock 0" ] || die "asked for still"

# One of them, and the function around it; another tracer has raised it before.
tell 'set 2' '^set' >/dev/null
inject_bg record -p "$VICTIM" --usdt us:tick --usdt us:twice -f us_round
semaphores 3 0
tell 'run 300' '^ran' >/dev/null
inject_end
removed
semaphores 2 0
tell 'set 0' '^set' >/dev/null
"$INJECT" report >trace.out
for name in us:tick us:twice us_round; do
	[ "$(grep -c " $name\$" trace.out)" = 1 ] || { cat trace.out; die "$name is not one line"; }
done
"$INJECT" replay --json >calls.json
[ "$(grep -c '"func":"us:twice"' calls.json)" = 450 ] || die "not as many"
! grep '"func":"us_round"' calls.json | grep -v '"end":"return"' || die "a call has not returned"

# A place by its distance has the id that the name had, for itself.
at=$("$INJECT" list --usdt=us:twice "$VICTIMS/usdt" 2>/dev/null | cut -f1)
start=$("$INJECT" list -f us_round "$VICTIMS/usdt" 2>/dev/null | cut -f1)
some=()
for a in $at; do some+=(-f "us_round+$((a - start))"); done
inject_bg count -p "$VICTIM" "${some[@]}"
tell 'run 1000' '^ran' >/dev/null
inject_end
removed
[ "$(awk '!/^#/ { print $1 }' trace.out | sort -n | xargs)" = "500 1000" ] ||
	{ cat trace.out; die "two places are counted as others"; }

# Killed: it is known what was raised; and stop may be said again.
for pause in 0 0.02 0.04 0.06 0.1 0.3; do
	"$INJECT" -p "$VICTIM" --usdt 'us:*' -o /dev/null 2>trace.err 9>&- &
	TRACER=$!
	started $TRACER
	sleep $pause
	[ $pause != 0.3 ] || wait_until 60 attached
	kill -KILL $TRACER
	wait $TRACER 2>/dev/null || true
	[ $pause != 0.3 ] || semaphores 1 1
	status 0 "$INJECT" stop -p "$VICTIM"
	semaphores 0 0
	clean
done
status 0 "$INJECT" stop -p "$VICTIM"
semaphores 0 0
# The next one finishes for one that was killed, too.
inject_bg -p "$VICTIM" --usdt 'us:*' -o /dev/null
kill -KILL "$TRACER"
WANT=137 inject_wait
semaphores 1 1
inject_bg -p "$VICTIM" --usdt us:tock -o /dev/null
semaphores 0 1
inject_end
removed
semaphores 0 0

# It goes on by itself.
status 0 "$INJECT" start -p "$VICTIM" --usdt 'us:t*'
semaphores 1 1
tell 'run 10' '^ran' >/dev/null
status 0 "$INJECT" status -p "$VICTIM"
grep -q '^us:tick' trace.out || die "what is probed is not told"
status 0 "$INJECT" stop -p "$VICTIM"
semaphores 0 0

# A child has them as they were; one that was forked before, as well.
inject_bg -p "$VICTIM" --usdt 'us:*' -o /dev/null
tell fork '^child' >/dev/null
semaphores 1 1
inject_end
has_line 'all probes removed, text verified' trace.err || die "not removed"
semaphores 0 0
[ "$(tell 'run 10' '^ran')" = "ran 10 tick 0 tock 0" ] || die "the child is asked still"
tell back '^back' >/dev/null
semaphores 0 0
victim_quit

# A program from its start.
"$INJECT" count --usdt 'us:plain' -- "$VICTIMS/usdt" >trace.out 2>trace.err \
	< <(echo 'run 5'; echo quit)
[ "$(seen us:plain)" = 5 ] || { cat trace.out; die "not seen from the start"; }

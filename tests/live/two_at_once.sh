#!/bin/bash
# SPDX-License-Identifier: MIT
# two_at_once: two injects come to one process at the same moment. One of them
# has it, the other is refused, by name, before it has touched anything; and
# who was killed holds it no longer.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# start N: a trace of some other function, in the background.
start()
{
	"$INJECT" -p "$VICTIM" -f "$2" -d 0.5 -o /dev/null >two.out 2>"two.$1.err" 9>&- &
	started "$!"
}

victim spin_threads 2
for _ in 1 2 3 4 5 6 7 8; do
	start 1 'spin_*'
	first=$!
	start 2 'count_*'
	second=$!
	a=0 b=0
	wait $first || a=$?
	wait $second || b=$?
	[ "$a$b" = 01 ] || [ "$a$b" = 10 ] || die "they ended with $a and $b"
	refused=$((a ? 1 : 2))
	grep -q "is held by another inject\|\(is held\|already traced\) by inject (pid" two.$refused.err ||
		die "the refused one does not say why"
	has_line 'all probes removed, text verified' two.$((3 - refused)).err ||
		die "the other one was disturbed"
	unharmed
done

# Held at each moment of its life, also while it has no session there yet.
inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null
status 1 "$INJECT" -p "$VICTIM" -f 'count_*' -d 0.1
refused "is held by inject (pid $TRACER, user $(id -u))"
kill -KILL "$TRACER"
wait "$TRACER" || true
status 0 "$INJECT" -p "$VICTIM" -f 'count_*' -d 0.1
removed

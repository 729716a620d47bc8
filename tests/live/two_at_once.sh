#!/bin/bash
# SPDX-License-Identifier: MIT
# two_at_once: two injects come to one process at the same moment. One of them
# has it, the other is refused, by name, before it has touched anything; and one that was killed
# holds it no longer.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# start N GLOB: a trace of some function, in the background, which ends when it is told.
start()
{
	"$INJECT" -p "$VICTIM" -f "$2" -o /dev/null >two.out 2>"two.$1.err" 9>&- &
	PIDS[$1]=$!
	started "$!"
}

victim spin_threads 2
declare -A PIDS
for _ in 1 2 3 4 5 6 7 8; do
	start 1 'spin_*'
	start 2 'count_*'
	# However late one of them comes, the other is there.
	got=0
	wait -n -p ended "${PIDS[@]}" || got=$?
	[ $got = 1 ] || die "the first that ended did so with $got"
	refused=1
	[ "$ended" = "${PIDS[1]}" ] || refused=2
	grep -q "is held by another inject\|\(is held\|already traced\) by inject (pid" two.$refused.err ||
		die "the refused one does not say why"
	other=$((3 - refused))
	wait_until 60 has_line '^inject: paused ' two.$other.err || die "the other one was disturbed"
	kill -INT "${PIDS[$other]}"
	wait "${PIDS[$other]}" || die "the other one ended with $?"
	has_line 'all probes removed, text verified' two.$other.err ||
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

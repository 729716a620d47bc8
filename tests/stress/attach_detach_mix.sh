#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_detach_mix: many kinds of program at once, patterns that overlap,
# ends of every kind (duration, signals, kill -9 and stop), forty victims; for an hour
# with SOAK=1.
# long: 40
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

kinds=(spin_threads churn recursion tailcalls throwers forker sigaltstack
	malloc_hot registers longjmper)
most=40 seconds=3600
[ -z "${SOAK:-}" ] || most=1000000
RANDOM=${SEED:-7}
rounds=0

# A new victim, one to three visits, all checks.
round()
{
	local kind=${kinds[$((RANDOM % ${#kinds[@]}))]} visits=$((1 + RANDOM % 3))
	local pattern='*'

	rm -f victim.in
	victim "$kind"
	for _ in $(seq $visits); do
		inject_bg -p "$VICTIM" -f "$pattern" -N 'victim_*' -o /dev/null --max-pause 2s
		sleep 0.0$((RANDOM % 10))
		case $((RANDOM % 4)) in
		0)
			kill -KILL "$TRACER"
			wait "$TRACER" || true
			victim_works
			status 0 "$INJECT" stop -p "$VICTIM"
			;;
		1) inject_end TERM ;;
		*) inject_end INT ;;
		esac
		unharmed
	done
	echo quit >&9
	exec 9>&-
	wait "$VICTIM" || die "$kind ended with status $?"
}

while [ $rounds -lt $most ] && [ $SECONDS -lt $seconds ]; do
	round
	rounds=$((rounds + 1))
done
echo "$rounds rounds"

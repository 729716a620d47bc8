#!/bin/bash
# SPDX-License-Identifier: MIT
# add_churn: functions are added to a process that records by itself, with other things to be read of
# them each time, and taken out again, while its threads make millions of calls, and inject is killed at
# any moment in between: a call that is kept is whole, and what is shown of it is its own.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need jq
need_root

# changed VERB ARG...: it is, or inject is killed meanwhile.
changed()
{
	local verb=$1 status=0

	shift
	"$INJECT" "$verb" -q -p "$VICTIM" "$@" 2>change.err &
	change=$!
	if [ $((RANDOM % 3)) = 0 ]; then
		sleep "0.$((RANDOM % 200 + 100))"
		kill -9 $change 2>/dev/null || true
	fi
	wait $change || status=$?
	[ $status = 0 ] || [ $status = 137 ] || [ $status = 3 ] || die "$verb $*: $(cat change.err)"
}

victim sifted
made=0
for start in '-w true --max-overhead 100' '--max-overhead 100'; do
	# shellcheck disable=SC2086 # two words
	status 0 "$INJECT" start -p "$VICTIM" -f outer_round $start
	what=(-a "-A step_short(i:i32)" "-a --stack=2" "")
	for round in 1 2 3; do
		made=$((made + 1))
		echo run >&9
		for n in {0..7}; do
			# shellcheck disable=SC2086 # none or three words
			changed add -f step_short ${what[(n + round) % 4]}
			changed remove -f step_short
		done
		runs() { [ "$(grep -c '^run ' victim.out)" -ge "$made" ]; }
		wait_until 120 runs || die "no answer"
		status 0 "$INJECT" snapshot -p "$VICTIM" -o shot
		"$INJECT" replay --json shot >shot.json
		jq -es 'map(select(.type == "call" and .func == "step_short" and .args.i != null)) |
			all(.[]; (.args.i | tonumber) < 1000 and
				(.ret == null or (.args.i | tonumber) + 1 == (.ret | tonumber)) and
				(.stack == null or .stack[0].func == "outer_round"))' shot.json >/dev/null ||
			die "$(jq -c 'select(.args != null)' shot.json | head -n 3)"
	done
	grep -c '"call"' shot.json
	# What is read as before has the number that it had.
	n=$(grep -ac '"step_short" = ' shot/metadata)
	[ "$n" -lt 10 ] || die "$n numbers for three ways to read"
	status 0 "$INJECT" stop -p "$VICTIM"
	unharmed
done

#!/bin/bash
# SPDX-License-Identifier: MIT
# filter_churn: the condition of a process that records by itself is changed again and again while its
# threads make millions of calls, and inject is killed at any moment in between: a call that is kept is
# one of those that a condition was for, and what is shown of it is its own. Children that it forks, and
# threads that end, are left alone.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need jq
need_root

victim sifted
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f step_short -w 'i == 7' -a
declare -a what=("i == 7" "retval == 10 && i < 99" "i == 11 && depth == 1 && duration < 10s" "retval == 14")
for round in 1 2 3 4 5 6; do
	echo run >&9
	for n in {0..11}; do
		"$INJECT" filter -q -p "$VICTIM" -w "${what[n % 4]}" 2>filter.err &
		filter=$!
		if [ $((n % 3)) = 2 ]; then
			sleep "0.0$((RANDOM % 40 + 10))"
			kill -9 $filter 2>/dev/null || true
			wait $filter || true
		else
			wait $filter || die "filter: $(cat filter.err)"
		fi
	done
	runs() { [ "$(grep -c '^run ' victim.out)" -ge "$round" ]; }
	wait_until 120 runs || die "no answer"
	status 0 "$INJECT" snapshot -p "$VICTIM" -o shot
	"$INJECT" replay --json shot >shot.json
	jq -es 'map(select(.type == "call")) | all(.[]; (.args.i | tonumber) + 1 == (.ret | tonumber) and
		(.args.i == "7" or .args.i == "9" or .args.i == "11" or .args.i == "13"))' shot.json \
		>/dev/null || die "$(grep '"call"' shot.json | grep -vE '"i":"(7|9|11|13)"' | head -n 3)"
done
grep -c '"call"' shot.json
for i in 7 9 11 13; do
	status 0 "$INJECT" filter -p "$VICTIM" -w "i == $i"
	tell run '^run ' >/dev/null
done
status 0 "$INJECT" snapshot -p "$VICTIM" -o shot
"$INJECT" replay --json shot >shot.json
jq -es '[.[] | select(.type == "call").args.i] | unique == ["11", "13", "7", "9"]' shot.json >/dev/null ||
	die "not all are there: $(jq -s '[.[] | select(.type == "call").args.i] | unique' -c shot.json)"
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

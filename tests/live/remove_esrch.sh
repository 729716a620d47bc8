#!/bin/bash
# SPDX-License-Identifier: MIT
# remove_esrch: ESRCH from a system call of the removal is no proof that the
# target has ended: while it lives, inject never says so, and never status 4.
# timeout: 120
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

judge()
{
	local n=$1

	if [ "$GOT" = 4 ] || has_line 'has ended\|another program' trace.err; then
		complain "$n" "status $GOT: said to have ended"
	elif [ "$GOT" = 5 ] && ! "$INJECT" stop -p "$VICTIM" 2>stop.err; then
		complain "$n" "status 5, and stop failed: $(cat stop.err)"
	elif ! is_clean; then
		complain "$n" "status $GOT, but $(tail -n 3 textcheck.out)"
	elif ! works; then
		complain "$n" "status $GOT, and then the victim: $(cat works.out)"
	fi
}

FAULT_VICTIM=(spin_threads 2)
fault_victim
run=(-p "$VICTIM" "${FAULT_RUN[@]}")
total=$(fault_count "${run[@]}")
# The removal is in the middle; in the end, /proc is searched for children.
for n in $(seq $((total * 30 / 100)) $((total * 40 / 100 / 30 + 1)) $((total * 70 / 100))); do
	run[1]=$VICTIM
	fault_run -n "$n" -e 3 -- "$INJECT" "${run[@]}"
	judge "$n"
done
[ $BAD = 0 ] || die "$BAD of the runs were wrong"

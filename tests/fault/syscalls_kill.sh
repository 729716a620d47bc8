#!/bin/bash
# SPDX-License-Identifier: MIT
# syscalls_kill: inject is killed (SIGKILL) right before its 1st, 2nd, 3rd ...
# system call. After each the target runs on, and inject stop brings back its
# text, whatever had been done by then.
# timeout: 240
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

# A thread that stood in our code when the injector died restores itself.
judge()
{
	local n=$1

	if [ $GOT = 124 ]; then
		complain "$n" "no end within 30 s"
	elif ! works; then
		complain "$n" "the victim does not run on: $(cat works.out)"
	elif ! "$INJECT" stop -p "$VICTIM" >/dev/null 2>stop.err; then
		complain "$n" "stop failed: $(cat stop.err)"
	elif ! is_clean; then
		complain "$n" "after stop: $(tail -n 3 textcheck.out)"
	elif ! works; then
		complain "$n" "after stop: $(cat works.out)"
	elif ! wait_until 3 same_threads; then
		complain "$n" "a thread of ours stayed"
	fi
}

POINTS=${POINTS:-50}
FAULT_VICTIM=(spin_threads 2)
fault_victim
run=(-p "$VICTIM" "${FAULT_RUN[@]}")
total=$(fault_count "${run[@]}")
echo "$total system calls"
for n in $(fault_points "$total"); do
	run[1]=$VICTIM
	fault_run -n "$n" -k -- "$INJECT" "${run[@]}"
	judge "$n"
done
[ $BAD = 0 ] || die "$BAD of the runs did harm"

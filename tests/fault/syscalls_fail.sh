#!/bin/bash
# SPDX-License-Identifier: MIT
# syscalls_fail: the 1st, 2nd, 3rd ... system call of inject fails. After each
# the target runs, nothing traces it, and its text is that of its file, unless
# inject says that probes remain (status 5), which inject stop then removes.
# timeout: 240
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

judge()
{
	local n=$1

	case $GOT in
	0 | 1 | 3) ;;
	5) "$INJECT" stop -p "$VICTIM" 2>stop.err || { complain "$n" "status 5, and stop failed: $(cat stop.err)"; return; } ;;
	134) # The C library ends a program for which starting a thread fails
		# so oddly. To the target that is any other death of its tracer.
		grep -q 'glibc error\|futex facility' trace.err ||
			{ complain "$n" "status $GOT"; return; }
		"$INJECT" stop -p "$VICTIM" 2>stop.err ||
			{ complain "$n" "libc gave up, and stop failed: $(cat stop.err)"; return; }
		GOT=0 ;;
	124 | 137) complain "$n" "no end within 30 s"; return ;;
	*) complain "$n" "status $GOT"; return ;;
	esac
	if [ $GOT != 0 ] && ! has_line '^inject: ' trace.err; then
		complain "$n" "status $GOT without a word"
	elif ! is_clean; then
		complain "$n" "status $GOT, but $(tail -n 3 textcheck.out)"
	elif ! works; then
		complain "$n" "status $GOT, and then the victim: $(cat works.out)"
	elif ! wait_until 3 same_threads; then
		complain "$n" "a thread of ours stayed"
	fi
}

FAULT_VICTIM=(spin_threads 2)
[ -z "${SINGLE:-}" ] || FAULT_VICTIM=(single)
fault_victim
run=(-p "$VICTIM" "${FAULT_RUN[@]}")
total=$(fault_count "${run[@]}")
echo "$total system calls"
errnos=(12 1 5 4 11)	# ENOMEM EPERM EIO EINTR EAGAIN, in turn
for n in $(fault_points "$total"); do
	run[1]=$VICTIM
	fault_run -n "$n" -e "${errnos[$((n % 5))]}" -- "$INJECT" "${run[@]}"
	judge "$n"
done
[ $BAD = 0 ] || die "$BAD of the runs did harm"

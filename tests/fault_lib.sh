# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# fault_lib: what the fault tests share: run inject with its n-th system call
# failing (or killed before it), for every n or some, and judge the target
# after each. Sourced after lib.sh.

FAILER=$BUILD/tests/fault/failer
POINTS=${POINTS:-60}	# in a normal run; SOAK=1 takes every n
# A short trace that prints nothing: most system calls are then those of the
# attach and the removal, which can do harm.
FAULT_RUN=(-f 'spin_*' -f 'single_*' -d 0.05 -t 1s -o /dev/null)
export FAULT_RUN
BAD=0

fault_victim()
{
	rm -f victim.in
	victim "${FAULT_VICTIM[@]}"
	THREADS=$(threads "$VICTIM")
}

# How many system calls a run has that is left alone; from the first look at
# the target on, for what comes before is the dynamic loader's.
fault_count()
{
	status 0 "$FAILER" -a "/proc/$VICTIM" -- "$INJECT" "$@"
	sed -n 's/^failer: \([0-9]*\) .*/\1/p' trace.err
}

# The points to fail at: every one, or POINTS of them, always the same ones.
fault_points()
{
	local total=$1 stride=1

	[ -n "${SOAK:-}" ] || stride=$(((total + POINTS - 1) / POINTS))
	seq $((1 + stride / 2)) $stride "$total"
}

# complain N WHAT: count it, go on; a dead victim is replaced.
complain()
{
	BAD=$((BAD + 1))
	echo "call $1 ($(sed -n 's/.* was //p' trace.err | tail -n 1)): $2"
	{ grep '^inject: ' trace.err || true; } | tail -n 3 | sed 's/^/    /'
	if ! kill -0 "$VICTIM" 2>/dev/null || ! answers; then
		kill -KILL "$VICTIM" 2>/dev/null || true
		fault_victim
		return
	fi
	"$INJECT" stop --force -p "$VICTIM" >/dev/null 2>&1 || true
	if ! "$TEXTCHECK" "$VICTIM" >/dev/null; then
		kill -KILL "$VICTIM" 2>/dev/null || true
		fault_victim
	fi
}

answers() { (progress) >/dev/null 2>&1; }
is_clean() { "$TEXTCHECK" "$VICTIM" >textcheck.out 2>&1; }
works() { (victim_works) >works.out 2>&1; }
same_threads() { [ "$(threads "$VICTIM")" = "$THREADS" ]; }

# One run, its status in GOT.
fault_run()
{
	GOT=0
	timeout -k 2 30 "$FAILER" -a "/proc/$VICTIM" "$@" >trace.out 2>trace.err 9>&- || GOT=$?
	export GOT
}

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# fault_lib: what the fault tests share. Sourced after lib.sh.

# sweep STRIDE HOW STATE VICTIM [INJECT-ARG...]: see sweep.c. SOAK=1 takes every
# call, from the first on, otherwise every STRIDE-th one is: each process of several
# threads that is traced, and each that is killed and cleaned, takes its time. SEED=N
# takes others, WIDER=N one of N only. In a PID namespace of its own, where there is one:
# the calls of a run do then not depend on what else the machine does, and nothing can be
# left over unseen.
sweep()
{
	local -a alone=()
	local log="sweep-$2-$3-${4%%,*}-${5:-trace}"

	if unshare --pid --fork --kill-child --mount-proc true 2>/dev/null; then
		alone=(unshare --pid --fork --kill-child --mount-proc)
	else
		echo "no PID namespace here: other processes are looked at, too"
	fi
	[ -n "${SOAK:-}" ] && STRIDE=1 FROM='' || STRIDE=$(($1 * ${WIDER:-1}))
	export INJECT TEXTCHECK VICTIMS STRIDE FROM
	shift
	"${alone[@]}" "$BUILD/tests/fault/sweep" "$@" >"$log.out" 2>&1 || {
		tail -n 40 "$log.out"
		die "sweep $* did harm"
	}
	mv sweep.log "$log.log"
	echo "sweep $*: $(tail -n 1 "$log.out")"
	has_line '^the end is behind call' "$log.out" || die "the end was not reached"
}

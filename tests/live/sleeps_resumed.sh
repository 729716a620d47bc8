#!/bin/bash
# SPDX-License-Identifier: MIT
# sleeps_resumed: a thread that sleeps with a timeout is stopped, borrowed, and
# stopped again: it sleeps on for the time that remained, not for the whole of
# it, also under seccomp filters, whether they allow what we need or not. If the injector
# is killed while it has the thread, the call runs again: it
# does not come back with EINTR. (A futex call is not among these: code that waits by one is
# used to that, and its number does not stand before it in the code.)
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# What comes before the first look at the target is the dynamic loader's.
failer() { "$BUILD/tests/fault/failer" -a "/proc/$VICTIM" "$@" >trace.out 2>trace.err 9>&-; }

# begin KIND SECONDS: its PID in SLEEPER, what it says in KIND.out. Under $FILTER, if set.
begin()
{
	local -a under=()

	[ -z "${FILTER:-}" ] || under=("$BUILD/tests/tools/under" "$FILTER")
	"${under[@]}" "$VICTIMS/sleeps" "$1" "$2" >"${FILTER:-}$1.out" 9>&- &
	SLEEPER=$!
	started "$SLEEPER"
	wait_until 30 has_line '^ready$' "${FILTER:-}$1.out" || die "$1 is not ready"
}

visit() { "$INJECT" -p "$1" -f 'sleeps_*' -d "${2:-0.1}" -o /dev/null 2>>"$3.err"; }

# Had the second visit, after 5 seconds, begun it anew, it would last 5 longer. All is longer
# where a visit is.
[ "${PATIENCE:-1}" = 1 ] && slow=1 || slow=4
remains()
{
	local kind=$1 want=$2 pid took

	begin "$kind" $((15 * slow))
	pid=$SLEEPER kind=${FILTER:-}$kind
	if [ "${FILTER:-}" = refusing ]; then
		sleep $((5 * slow))
		! visit "$pid" 0.1 "$kind" || die "$kind is not refused"
		grep -q 'may kill it for memfd_create' "$kind.err" || die "$(cat "$kind.err")"
	else
		visit "$pid" $((5 * slow)) "$kind"
		visit "$pid" 0.1 "$kind"
	fi
	wait_until 30 has_line '^ended' "$kind.out" || die "$kind did not end"
	grep -q "^ended $want " "$kind.out" || die "$kind $(tail -n 1 "$kind.out")"
	took=$(sed -n 's/.* after \([0-9]*\) ms/\1/p' "$kind.out")
	[ "$took" -ge $((15000 * slow - 1)) ] || die "$kind ended early: $took ms"
	[ "$took" -lt $((18500 * slow)) ] || die "$kind began anew: $took ms"
}

killed()
{
	local kind=$1 n total

	begin "$kind" 3600
	VICTIM=$SLEEPER
	run=(-p "$VICTIM" -f 'sleeps_*' -d 0.05 --tid 1 -o /dev/null)
	failer -- "$INJECT" "${run[@]}" || die "$kind: status $?"
	failer -- "$INJECT" "${run[@]}" || die "$kind: status $?"
	total=$(sed -n 's/^failer: \([0-9]*\) .*/\1/p' trace.err)
	for n in $(seq $((total / 8)) $((total / 2 / 14)) $((total * 5 / 8))); do
		failer -n "$n" -k -- "$INJECT" "${run[@]}" || true
		"$INJECT" stop -p "$VICTIM" 2>stop.err || die "$kind, call $n: $(tail -n 1 "$kind.out"): $(cat stop.err)"
		! has_line '^ended' "$kind.out" ||
			die "$kind, call $n: $(tail -n 1 "$kind.out")"
	done
	clean "$VICTIM"
	kill -KILL "$VICTIM"
	VICTIM=
}

pids=()
for row in nanosleep:0 clock_nanosleep:0 poll:0 futex:-110; do
	remains "${row%:*}" "${row#*:}" &
	pids+=($!)
done
for FILTER in filter refusing; do
	remains nanosleep 0 &
	pids+=($!)
	remains poll 0 &
	pids+=($!)
done
FILTER=
for p in "${pids[@]}"; do
	wait "$p"
done
for kind in nanosleep clock_nanosleep poll; do
	killed $kind
done

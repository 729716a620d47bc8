#!/bin/bash
# SPDX-License-Identifier: MIT
# status_tells: inject is killed before one of its system calls, from the journal on to
# the end of the removal: inject status names as many sites as inject stop then restores,
# and none where none stands.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
victim single
failer() { "$BUILD/tests/fault/failer" -a "/proc/$VICTIM" "$@" >failer.out 2>failer.err 9>&-; }
run=("$INJECT" -p "$VICTIM" -f 'single_*' -d 0.01 -o /dev/null --max-pause 10s)
failer -- "${run[@]}" || die "status $?"
failer -- "${run[@]}" || die "status $?"
total=$(sed -n 's/^failer: \([0-9]*\) .*/\1/p' failer.err)
[ "$total" -gt 100 ] || die "$total calls only"

# The number in a message of this kind; nothing is 0.
number() { sed -nE "s/$1/\1/p" "$2" | grep . || echo 0; }

none=0 some=0
[ -n "${SOAK:-}" ] && stride=1 || stride=$((17 * ${WIDER:-1}))
# A dozen of them at least.
[ "$stride" -le $((total / 18)) ] || stride=$((total / 18))
for ((n = total / 3; n < total; n += stride)); do
	failer -n "$n" -k -- "${run[@]}" || true
	status 0 "$INJECT" status -p "$VICTIM"
	says=$(number '.*	left behind	([0-9]+) sites	.*' trace.out)
	[ "$says" != 0 ] || refused "inject has no probes in $VICTIM"
	status 0 "$INJECT" stop -p "$VICTIM"
	[ "$(number '.*: ([0-9]+) sites in 1 process restored.*' trace.err)" = "$says" ] ||
		die "killed before call $n: status says $says sites, stop $(tail -n 1 trace.err)"
	[ "$says" = 0 ] && none=$((none + 1)) || some=$((some + 1))
done
[ "$none" -gt 3 ] && [ "$some" -gt 0 ] || die "$none without, $some with probes"
echo "$none times none, $some times some"
unharmed
victim_quit

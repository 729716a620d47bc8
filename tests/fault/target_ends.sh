#!/bin/bash
# SPDX-License-Identifier: MIT
# target_ends: the target is killed before the 1st, 2nd, 3rd ... system call of a
# trace. Whichever it is, inject says that it has ended, with status 4, and takes
# what cannot be read any more for nothing else.
# timeout: 120
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

failer=$BUILD/tests/fault/failer
[ -n "${SOAK:-}" ] && stride=1 || stride=53
points=0
for ((n = 1; ; n += stride)); do
	victim single
	got=0
	"$failer" -a "/proc/$VICTIM" -n $n -x "$VICTIM" -- "$INJECT" -p "$VICTIM" \
		-f 'single_*' -d 0.01 -t 1s -o /dev/null >trace.out 2>trace.err || got=$?
	if has_line ' was -1$' trace.err; then
		[ $got = 0 ] || die "status $got though the target lived"
		removed
		break
	fi
	[ $got = 4 ] || { cat trace.err; die "status $got when it ended before call $n"; }
	grep -qiE 'ended|no such process|executes another' trace.err ||
		{ cat trace.err; die "does not say that it has ended (call $n)"; }
	if grep -E '^inject: refused|was refused|kernel thread|PROBES REMAIN' trace.err; then
		die "takes an end for something else (call $n)"
	fi
	wait "$VICTIM" 2>/dev/null || true
	rm victim.in
	points=$((points + 1))
done
echo "$points points, the last call is before $n"

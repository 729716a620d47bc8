#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_outlived: a thread is interrupted in a recording routine, at each depth of the
# stack that there is, and goes on from there when a later trace has begun. What it
# stood on is still there.
# timeout: 1200
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the functions are x86-64 code"

# Each in a process of its own, whose first call this is: it goes the longest way.
outlive()
{
	victim lingerer
	inject_bg -p "$VICTIM" -f linger --entry-only -o /dev/null
	depth=$(tell "step $1" ' step$')
	inject_end
	clean
	if [ "$depth" = "ok step" ]; then
		inject_bg -p "$VICTIM" -f linger_before -o /dev/null --max-pause 2s
		tell go '^ok go' >/dev/null
		inject_end
		removed
	fi
	victim_quit
}

depth='ok step' n=128
while [ "$depth" = "ok step" ]; do
	outlive $n
	n=$((n + 16))
done
[ $n -gt 200 ] || die "the slow path is nowhere deeper than $n bytes"

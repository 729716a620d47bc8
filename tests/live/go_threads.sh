#!/bin/bash
# SPDX-License-Identifier: MIT
# go_threads: threads of Go's that end by the hundred give back what was kept for each of
# them: calls without stack of later ones are recorded, also after an inject that was
# killed.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ -x "$VICTIMS/goroutines_static" ] || skip "no Go compiler here"

# There is room for 256 threads.
are_seen()
{
	tell 'ask 50' '^asked' >/dev/null
	[ "$(grep -c exitThread calls.out)" -gt 400 ]
}

victim goroutines_static
for _ in 1 2; do
	inject_bg -p "$VICTIM" -f 'runtime.exitThread*' -o calls.out
	wait_until 60 are_seen || die "ended threads give back no room: $(cat trace.err)"
	kill -KILL "$TRACER"
	wait "$TRACER" || true
done
status 0 "$INJECT" stop -p "$VICTIM"
clean "$VICTIM"
victim_quit

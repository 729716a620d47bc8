#!/bin/bash
# SPDX-License-Identifier: MIT
# stopped_while_traced: the target is stopped by SIGSTOP before the probes go:
# they are removed, and it stays stopped until it is told to go on.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# Each of its threads.
stopped() { ! grep -L '^State:.T' "/proc/$VICTIM/task"/*/status | grep -q .; }

victim spin_threads 2
for _ in 1 2 3; do
	inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null
	kill -STOP "$VICTIM"
	wait_until 30 stopped
	inject_end
	has_line 'all probes removed, text verified' trace.err || die "not removed"
	wait_until 30 stopped || die "not stopped any more"
	"$TEXTCHECK" -t "$VICTIM"
	kill -CONT "$VICTIM"
	unharmed
done

# Removed by another visit, after the first was killed.
inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null
kill -STOP "$VICTIM"
wait_until 30 stopped
kill -KILL "$TRACER"
wait "$TRACER" || true
status 0 "$INJECT" stop -p "$VICTIM"
wait_until 30 stopped || die "not stopped any more"
"$TEXTCHECK" -t "$VICTIM"
kill -CONT "$VICTIM"
unharmed

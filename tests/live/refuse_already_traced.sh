#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_already_traced: by strace here; the line names the tracer.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need strace
victim spin_threads 2
strace -f -o /dev/null -e trace=none -p "$VICTIM" 2>strace.err &
strace=$!
started "$strace"
# Each of its threads, which strace takes, and lets go, one by one.
traced_by() { ! grep -L "^TracerPid:.$1\$" "/proc/$VICTIM/task"/*/status | grep -q .; }
wait_until 30 traced_by $strace || skip "strace cannot attach"
status 1 "$INJECT" -p "$VICTIM" -f 'spin_*'
refused 'already traced by strace'
refused $strace
"$TEXTCHECK" -t "$VICTIM"
victim_works
kill $strace
wait_until 30 traced_by 0 || die "strace stays"
status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -d 0.1
removed

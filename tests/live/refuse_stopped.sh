#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_stopped: a process stopped by SIGSTOP stays so, and goes on when told.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 2
kill -STOP "$VICTIM"
stopped() { grep -q '^State:.T' "/proc/$VICTIM/status"; }
wait_until 30 stopped
status 1 "$INJECT" -p "$VICTIM" -f 'spin_*'
refused stopped
stopped || die "not stopped any more"
"$TEXTCHECK" -t "$VICTIM"
kill -CONT "$VICTIM"
unharmed

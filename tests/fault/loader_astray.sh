#!/bin/bash
# SPDX-License-Identifier: MIT
# loader_astray: the thread that is to start the loader cannot be fetched out of
# pthread_create. No other is sent after it, on the same stack: the visit fails, the thread
# goes home when it can, and the next visit finds all that it needs.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

is_back() { ! grep -q '^State:.D' "/proc/$VICTIM/task"/*/status; }

victim detained
status 1 "$INJECT" -p "$VICTIM" -f 'detained_*' -d 0.1
refused 'a remote call in thread [0-9]*: Connection timed out'
wait_until 30 is_back || die "it never comes back"
tell wake '^ok wake$' >/dev/null
unharmed
status 0 "$INJECT" -p "$VICTIM" -f 'detained_*' -d 0.2 --max-pause 10s
traced detained_work
removed
victim_quit

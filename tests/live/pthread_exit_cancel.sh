#!/bin/bash
# SPDX-License-Identifier: MIT
# pthread_exit_cancel: threads end by pthread_exit and pthread_cancel inside probed frames.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim pthread_ends
status 0 "$INJECT" -p "$VICTIM" -f 'end_*' -d 0.5
traced end_wait
traced unwound
removed

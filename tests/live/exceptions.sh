#!/bin/bash
# SPDX-License-Identifier: MIT
# exceptions: exceptions cross probed frames, and backtrace() sees what it saw.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim throwers
status 0 "$INJECT" -p "$VICTIM" -f 'throwers::*' -d 0.5
traced leap
traced unwound
removed

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
# The unwinder's own functions too, but for those that return elsewhere.
status 0 "$INJECT" -p "$VICTIM" -f 'throwers::*' -f '*@libgcc_s*' -f '*@libstdc++*' -d 0.5 -o throw.out
has_line '_Unwind_RaiseException()' throw.out || die "_Unwind_RaiseException was not seen"
has_line '_Unwind_Backtrace' throw.out || die "_Unwind_Backtrace was not seen"
removed

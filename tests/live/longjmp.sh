#!/bin/bash
# SPDX-License-Identifier: MIT
# longjmp: longjmp leaves probed frames; they are shown as unwound.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim longjmper
status 0 "$INJECT" -p "$VICTIM" -f 'jump_*' -d 0.5
traced jump_deep
traced unwound
removed

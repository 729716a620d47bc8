#!/bin/bash
# SPDX-License-Identifier: MIT
# branch_into_prologue: functions that are not selected jump into the first
# bytes of one that is. It is refused, or probed so that they still can.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim strangers
for _ in 1 2 3 4 5; do
	status 0 "$INJECT" -p "$VICTIM" -f 'stra_*' -d 0.2 -n 20000
	traced stra_plain
	has_line 'refused stra_target: a branch lands inside' trace.err || traced stra_target
	removed
done

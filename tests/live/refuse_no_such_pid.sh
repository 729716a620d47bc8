#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_no_such_pid: one line; status 4, as for one that has just ended.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

sleep 0 &
gone=$!
wait $gone
status 4 "$INJECT" -p $gone -f '*'
refused 'no such process'
status 2 "$INJECT" -p 0 -f '*'
status 2 "$INJECT" -p -5 -f '*'
status 2 "$INJECT" -p 99999999999999999999 -f '*'
status 2 "$INJECT" -p x -f '*'

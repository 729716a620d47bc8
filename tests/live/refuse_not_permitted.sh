#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_not_permitted: another user's process: the line names both users, and says to try sudo.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

as_nobody spin_threads
as=("${AS[@]}")
AS=()
victim spin_threads 2
status 1 "${as[@]}" "$VICTIMS/inject" -p "$VICTIM" -f 'spin_*'
refused 'not permitted'
status 1 "${as[@]}" "$VICTIMS/inject" list -p "$VICTIM" -f 'spin_*'
refused 'not permitted for .*; try sudo'
unharmed

#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_recursion: calls nested 100,000 deep, deeper than any table of them.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim recursion
status 0 "$INJECT" -p "$VICTIM" -f 'rec_*' -D 30 -d 0.5
traced rec_even
removed

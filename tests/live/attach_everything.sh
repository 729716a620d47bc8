#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_everything: the pattern '*', functions of the C library too.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 2
status 0 "$INJECT" -p "$VICTIM" -f '*' -d 0.3
removed
status 0 "$INJECT" -p "$VICTIM" -f '*' -f '*@libc.so*' -d 0.3 -o /dev/null
removed

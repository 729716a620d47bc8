#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_bad_glob: usage errors say what is wrong, with status 2.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 2
status 2 "$INJECT" -p "$VICTIM" -f 'spin_['
status 2 "$INJECT" -p "$VICTIM" -f ''
status 2 "$INJECT" -p "$VICTIM"
status 2 "$INJECT" -f 'spin_*'
status 2 "$INJECT" -p "$VICTIM" -f 'spin_*' leftover
status 2 "$INJECT" -f -p "$VICTIM"
status 2 "$INJECT" -p "$VICTIM" -f 'spin_*' -t 5
status 2 "$INJECT" -p "$VICTIM" -f 'spin_*' --no-such-option
status 2 "$INJECT" no-such-verb -p "$VICTIM"
status 2 "$INJECT"
unharmed

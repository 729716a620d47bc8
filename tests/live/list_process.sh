#!/bin/bash
# SPDX-License-Identifier: MIT
# list_process: touches nothing, and says the same as for the file.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 2
"$INJECT" list -p "$VICTIM" -f 'spin_*' >process.out 2>process.err
"$INJECT" list "$VICTIMS/spin_threads" -f 'spin_*' >file.out 2>file.err
diff process.out file.out
grep -q memfd "/proc/$VICTIM/maps" && die "list has put something into the process"
unharmed

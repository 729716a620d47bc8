#!/bin/bash
# SPDX-License-Identifier: MIT
# list_process: touches nothing, and says the same as for the file. Of what is
# no such process, or no program, it says so.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 2
"$INJECT" list -p "$VICTIM" -f 'spin_*' >process.out 2>process.err
"$INJECT" list "$VICTIMS/spin_threads" -f 'spin_*' >file.out 2>file.err
diff process.out file.out
grep -q memfd "/proc/$VICTIM/maps" && die "list has put something into the process"
unharmed

status 4 "$INJECT" list -p 4194305 -f '*'
refused 'no such process'
if [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
	status 1 "$INJECT" list -p 2 -f '*'
	refused 'kernel thread'
fi
unharmed

#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_faulter: a program that handles breakpoints, faults and undefined
# instructions of its own gets each of them, while probes come and go.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim faulter
for _ in 1 2 3 4 5 6 7 8 9 10; do
	inject_until fault_trap -p "$VICTIM" -f 'fault_*' --max-pause 2s
	traced fault_handled
	removed
done
victim_quit

# Most of its threads stand at a fault whose signal has not come yet: that is
# theirs, not one of a call that is made for us.
victim faulter hot
for _ in 1 2 3 4 5 6 7 8 9 10; do
	status 0 "$INJECT" -p "$VICTIM" -f 'fault_*' -d 0.05 -o /dev/null --max-pause 2s
	removed
done

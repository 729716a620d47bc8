#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_tight_stack: the thread that would be borrowed sleeps with less stack
# left than its way back needs, and with live data below: on a fiber's stack,
# and at the end of a thread's own.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

for kind in fiber edge; do
	rm -f victim.in
	victim tight_stack $kind
	for _ in 1 2 3 4 5; do
		inject_until tight_work -p "$VICTIM" -f 'tight_*'
		removed
	done
done

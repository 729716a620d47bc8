#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_tailcalls: tail calls of every kind, and switches by jump table.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim tailcalls
for _ in 1 2 3; do
	status 0 "$INJECT" -p "$VICTIM" -f 'tail_*' -d 0.3
	traced tail_b
	removed
done

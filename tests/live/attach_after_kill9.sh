#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_after_kill9: a new trace takes over what a killed one has left.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 2
for _ in 1 2 3; do
	inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null
	kill -KILL "$TRACER"
	wait "$TRACER" || true
	victim_works
	status 0 "$INJECT" -p "$VICTIM" -f 'count_*' -f 'spin_l*' -d 0.2
	traced spin_leaf
	removed
done

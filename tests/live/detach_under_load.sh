#!/bin/bash
# SPDX-License-Identifier: MIT
# detach_under_load: the probes go while every thread is inside probed code.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 8
for _ in $(seq 10); do
	inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null --max-pause 2s
	sleep 0.1
	inject_end
	removed
done

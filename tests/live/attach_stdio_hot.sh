#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_stdio_hot: every thread is inside of stdio, or nearly always.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim stdio_hot
for _ in $(seq "$(fewer 10 3)"); do
	status 0 "$INJECT" -p "$VICTIM" -f 'hot_*' -d 0.1 --max-pause 2s
	removed
done

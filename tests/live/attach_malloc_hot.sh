#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_malloc_hot: every thread is inside of malloc, or nearly always.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim malloc_hot
for _ in 1 2 3 4 5 6 7 8 9 10; do
	status 0 "$INJECT" -p "$VICTIM" -f 'hot_*' -d 0.1 --max-pause 2s
	removed
done

#!/bin/bash
# SPDX-License-Identifier: MIT
# filters_differ: most threads can never be borrowed, by their filters; the main thread can, which
# is the last to be asked.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim filters_differ 8
for _ in 1 2 3; do
	status 0 "$INJECT" -p "$VICTIM" -f differ_work -d 0.3
	traced differ_work
	removed
done
victim_works

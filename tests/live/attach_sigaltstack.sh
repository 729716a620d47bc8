#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_sigaltstack: signal handlers on other stacks, calling what they
# interrupted, and leaving by siglongjmp.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim sigaltstack
for _ in 1 2 3 4 5; do
	status 0 "$INJECT" -p "$VICTIM" -f 'alt_*' -d 0.3
	traced alt_work
	removed
done

#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_churn: threads are born and die all the time.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim churn 4
for _ in 1 2 3 4 5; do
	status 0 "$INJECT" -p "$VICTIM" -f 'churn_*' -d 0.3
	traced churn_inner
	removed
done

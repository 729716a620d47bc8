#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_churn: threads are born and die all the time, so that the lock of the
# stacks that they leave is held as often as not (see attach_unmapping, too).
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/cycles_lib.sh
. "$ROOT/tests/cycles_lib.sh"

victim churn 4
for _ in 1 2 3 4 5; do
	status 0 "$INJECT" -p "$VICTIM" -f 'churn_*' -d 0.3
	traced churn_inner
	removed
done
tell quit '^bye' >/dev/null
rm victim.in
loads 10 'churn_*' churn victim_works

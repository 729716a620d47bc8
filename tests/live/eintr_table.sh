#!/bin/bash
# SPDX-License-Identifier: MIT
# eintr_table: 53 blocking system calls, one thread each. No call ends early,
# with EINTR or otherwise, because of attaches and detaches.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim blocked 8
for _ in 1 2 3; do
	status 0 "$INJECT" -p "$VICTIM" -f 'victim_sleep*' -f 'run_*' -d 0.3 -o /dev/null \
		--max-pause $((50 * ${PATIENCE:-1}))ms
	has_line 'all probes removed, text verified' trace.err || die "not removed"
	clean
done
tell release '^released' 60 >/dev/null
grep '^row .* skipped' victim.out || true
if grep ^WRONG victim.out; then
	die "a blocked call has seen the attach"
fi

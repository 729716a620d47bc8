#!/bin/bash
# SPDX-License-Identifier: MIT
# visits_churn: a thread that an earlier visit knew comes late in the next one, when
# what was its own there has been other threads' many times over. Its calls are its own
# all the same, each of them once.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

enough() { [ "$(wc -l <trace.out)" -gt 16000 ]; }
callers() { sed -n 's/.*\[ *\([0-9]*\)\] |.* churn_main();/\1/p' trace.out; }
# Where threads come that fast, there may be no ring for this one at the first call.
called() { tell main '^main' >/dev/null && callers | grep -qx "$1"; }

victim churn 2
for round in first second third; do
	inject_bg -p "$VICTIM" -f 'churn_*'
	[ $round = first ] || wait_until 60 enough || die "too few calls"
	wait_until 60 called "$VICTIM" || die "$round visit: no call by $VICTIM"
	inject_end
	removed
	[ "$(callers | sort -u)" = "$VICTIM" ] ||
		die "$round visit: calls by $(callers | sort -u | xargs)"
done
unharmed
victim_quit

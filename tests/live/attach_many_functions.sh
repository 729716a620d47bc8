#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_many_functions: 10,000 functions at once, and a call of each counted; and timed,
# for which the first visit takes the room.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim many_functions
for _ in 1 2; do
	inject_bg -p "$VICTIM" -f 'many_*' -m 16M --max-pause 5s
	has_line '10000 of 10000 functions probed, 10000 with exits' trace.err || die "not all"
	tell "call 2" '^called' >/dev/null
	inject_end
	removed
	[ "$(closing lost)" = 0 ] || die "events were lost"
	[ "$(closing calls)" = 20000 ] || die "$(closing calls) calls, not 20000"
	[ "$(grep -o 'many_[0-9]*' trace.out | sort -u | wc -l)" = 10000 ] || die "not each"
done

rm victim.in
victim many_functions
inject_bg hist -p "$VICTIM" -f 'many_*' --json --max-pause 5s
has_line '10000 of 10000 functions probed, 10000 with exits' trace.err || die "not all"
tell "call 2" '^called' >/dev/null
inject_end
removed
[ "$(grep -c '"calls":2,' trace.out)" = 10000 ] || die "not each was timed twice"

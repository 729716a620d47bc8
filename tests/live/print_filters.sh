#!/bin/bash
# SPDX-License-Identifier: MIT
# print_filters: -t, -D, --tid, -n, --entry-only and --time, each by what is printed.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3
victim spin_threads 2
trace() { status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' "$@"; removed; }
# check EXPRESSION: holds for every call `c` that was printed, and there is one.
check()
{
	python3 - "$1" "${2:-1}" <<'PY' || die "not so: $1"
import itertools, json, sys
lines = itertools.islice(open("trace.out"), 5000)
calls = [c for c in map(json.loads, lines) if c["type"] == "call"]
bad = [c for c in calls if not eval(sys.argv[1])]
print(len(calls), "calls", *bad[:2])
sys.exit(bool(bad) or len(calls) < int(sys.argv[2]))
PY
}

trace --json -t 20us -d 0.05
check 'c["end"] != "return" or c["dur_ns"] >= 20000' 0
trace --json -D 1 -n 500
check 'c["depth"] == 0'
tid=$(other_thread "$VICTIM")
trace --json --tid "$tid" -n 500
check "c[\"tid\"] == $tid"
trace --json --entry-only -n 500
check 'c["entry_only"] and c["dur_ns"] is None and c["end"] == "open"'
for more in --json --time; do
	status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -n 50 $more
	printed=$(grep -cE '"type":"call"|\| *spin_.*(;|\{)$|began before' trace.out)
	[ "$printed" = 50 ] || die "-n 50 $more printed $printed calls"
done
status 0 "$INJECT" record -p "$VICTIM" -f 'spin_*' -n 50 -o fifty
status 0 "$INJECT" replay fifty --json
[ "$(grep -c '"type":"call"' trace.out)" = 50 ] || die "record -n 50"
status 2 "$INJECT" -p "$VICTIM" -f 'spin_*' -t 1ms --entry-only
trace --time -n 500
grep -qE '^[0-2][0-9]:[0-5][0-9]:[0-6][0-9]' trace.out || die "no time of day"
tail -n 1 trace.out

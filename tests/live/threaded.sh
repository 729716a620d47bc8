#!/bin/bash
# SPDX-License-Identifier: MIT
# threaded: an interpreter of threaded code that copies what stands between two addresses in its
# middle, while it is traced and before, and runs the copies. Nothing of that changes but where the
# interpreter is left.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the interpreter is of x86-64"

victim threaded
for what in threaded_run '*@exe' '*'; do
	gets_on 10
	inject_bg -p "$VICTIM" -f "$what" -o trace.dir
	gets_on 100
	inject_end
	removed
	rm -rf trace.dir
done
"$INJECT" list "$VICTIMS/threaded" -f threaded_run >list.out 2>list.err
grep -q '	threaded_run	[a-z]*	[1-9]' list.out ||
	{ cat list.out; die "where it is left is not probed"; }
inject_bg -p "$VICTIM" -f threaded_run
gets_on 20
inject_end
removed
# One call of 16 is left in a copy from before we came.
calls=$(closing calls) events=$(closing events)
[ "$calls" -gt 2000 ] || die "not all calls are seen"
[ $((16 * (2 * calls - events))) -lt $((calls + 16 * 64)) ] ||
	die "$calls calls and $events events: exits are missing"
victim_quit

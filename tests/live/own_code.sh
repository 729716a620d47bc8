#!/bin/bash
# SPDX-License-Identifier: MIT
# own_code: a program that writes to code of its own, in the private mapping of a file
# that is no program's, is probed and left as any other: nothing of ours was there.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim own_code
inject_bg -p "$VICTIM" -f 'own_*'
gets_on 640
inject_end
removed
status 0 "$INJECT" start -p "$VICTIM" -f 'own_*'
gets_on 640
status 0 "$INJECT" stop -p "$VICTIM"
has_line 'all probes removed, text verified' trace.err || die "not verified by stop"

# Callers in code of no file, as what a process holds tells them.
status 0 "$INJECT" start -p "$VICTIM" -f 'own_*' --stack
gets_on 640
status 0 "$INJECT" snapshot -p "$VICTIM" -o snap
status 0 "$INJECT" replay snap
grep -A1 '^ *| *at 0x[0-9a-f]*$' trace.out >callers
grep -q '^ *| *at main+0x.* (own_code)$' callers ||
	die "no caller of no file: $(head -20 trace.out)"
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

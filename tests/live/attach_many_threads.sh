#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_many_threads: 200 threads that mostly sleep, then 40 that all run.
# timeout: 120
# serial: each process gets its share among 40 only
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim sleeper 200
[ "$(threads "$VICTIM")" -gt 200 ] || die "not 200 threads"
status 0 "$INJECT" -p "$VICTIM" -f 'sleeper_*' -d 0.5 --max-pause 2s
traced sleeper_
removed
echo quit >&9
rm victim.in

victim spin_threads 40
status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -n 20000 --max-pause 2s
traced spin_leaf
removed

#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_running: threads that run all the time, in the functions probed.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 3
n=$(threads "$VICTIM")
status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -d 0.5
traced spin_leaf
traced spin_switch
traced '# DURATION     TID      FUNCTION'
[ "$(closing functions)" = 4 ] || die "not 4 functions probed"
[ "$(closing calls)" -gt 1000 ] || die "few calls"
removed
[ "$(threads "$VICTIM")" = "$n" ] || die "a thread of ours stayed"

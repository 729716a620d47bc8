#!/bin/bash
# SPDX-License-Identifier: MIT
# jumps_kill: inject is killed right before each of its writes to the target's
# memory, while it puts in jumps that others lead into, and while it takes them
# out: no page may need one that was not written yet. Threads run there all the
# time; then inject stop brings back the text.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the loops are x86-64 code"
need_root
export ONLY=${CALL[pwrite64]}
sweep 1 kill again loops,2 -p @ -f 'spin_[hc]*' -d 0.02 -o /dev/null --max-pause 10s

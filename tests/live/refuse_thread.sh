#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_thread: the number of a thread is not that of a process; the line
# says which is.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 2
tids=("/proc/$VICTIM/task"/*)
tid=${tids[-1]##*/}
[ "$tid" != "$VICTIM" ] || die "no other thread"
status 1 "$INJECT" -p "$tid" -f 'spin_*'
refused "that is a thread of process $VICTIM"
unharmed

#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_thread: the number of a thread is not that of a process; the line
# says which is. The other way round, --tid says so when there is no such thread.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 2
tid=$(other_thread "$VICTIM") || die "no other thread"
status 1 "$INJECT" -p "$tid" -f 'spin_*'
refused "that is a thread of process $VICTIM"
unharmed

# And a number that is no thread's is no reason to refuse, but for a word.
inject_bg -p "$VICTIM" -f 'spin_*' --tid "$tid" -o /dev/null
inject_end
has_line 'has no thread' trace.err && die "does not know thread $tid"
inject_bg -p "$VICTIM" -f 'spin_*' --tid 1 -o /dev/null
inject_end
has_line "$VICTIM has no thread 1 now" trace.err || die "does not say that there is no such thread"
removed

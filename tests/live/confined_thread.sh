#!/bin/bash
# SPDX-License-Identifier: MIT
# confined_thread: one thread of the process has a strict seccomp filter: it is
# traced as the others are, but never borrowed, and makes no call that it did not make by
# itself: each thread's id is known without the kernel.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

filtered() { grep -q '^Seccomp:.*2' "/proc/$VICTIM/task"/*/status; }
recluse() { grep -l '^Seccomp:.*2' "/proc/$VICTIM/task"/*/status | cut -d/ -f5; }

victim confined thread
wait_until 30 filtered
for _ in 1 2 3 4 5; do
	inject_until "\[ *$(recluse)\].*early_work" -p "$VICTIM" -f 'early_*'
	removed
done

# One has a robust list elsewhere than the C library put it, and its id where all have it.
rm -f victim.in
victim confined thread odd
wait_until 30 filtered
inject_until early_work -v -p "$VICTIM" -f 'early_*'
! has_line gettid trace.err || die "the banner speaks of gettid"
sed -n 's/.*\[ *\([0-9]*\)\].*early_work.*/\1/p' trace.out | sort -u >tids
while read -r tid; do
	[ -d "/proc/$VICTIM/task/$tid" ] || die "$tid is no thread of the victim"
done <tids
removed

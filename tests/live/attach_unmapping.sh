#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_unmapping: a thread unmaps the stack of one that has ended, and holds the lock
# that every new thread needs. No thread is made to wait for it, and the thread that was
# borrowed in the middle of its call goes home to it.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

unmaps() { grep -qs "^${CALL[munmap]} " "/proc/$VICTIM/task"/*/syscall; }

for _ in 1 2 3 4 5; do
	victim unmapper
	wait_until 30 unmaps || die "no thread stands in munmap"
	inject_until unmapper_works -p "$VICTIM" -f unmapper_works --max-pause 2s
	removed
	victim_quit
done

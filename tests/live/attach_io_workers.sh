#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_io_workers: threads that the kernel has made for io_uring are listed with the
# target's own, but run no code of it: none is borrowed, nor stopped, for that would
# end what it does for the target, and none keeps anything from being done.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

workers() { grep -l '^iou-' "/proc/$VICTIM/task/"*/comm 2>/dev/null | wc -l; }

"$VICTIMS/io_workers" </dev/null >can.out 2>&1 || true
has_line '^none$' can.out && skip "no io_uring here"
victim io_workers
for kind in trace count trap; do
	[ "$(workers)" -gt 0 ] || die "the victim has no such thread"
	case $kind in
	trace) inject_until io_work -v -p "$VICTIM" -f 'io_*' ;;
	count) status 0 "$INJECT" count -p "$VICTIM" -f 'io_*' -d 0.3 ;;
	trap) inject_until io_work -p "$VICTIM" -f 'io_*' --trap ;;
	esac
	has_line 'SIGTRAP' trace.err && die "$kind: a thread of the kernel's blocks SIGTRAP"
	[ $kind = count ] || has_line "io_workers ($VICTIM, 1 thread)" trace.err ||
		die "$kind: threads of the kernel's are counted"
	removed
done

status 0 "$INJECT" start -p "$VICTIM" -f '*'
gets_on 3
status 0 "$INJECT" snapshot -p "$VICTIM" -o snap
status 0 "$INJECT" stop -p "$VICTIM"
removed

#!/bin/bash
# SPDX-License-Identifier: MIT
# shared_memory: a process that is no thread of the target runs on its memory,
# where it is not stopped: nothing is written into the text under its feet. The target
# is refused, or said to have probes left, until that process ends.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim vforker
other=$(tell linger '^done' | cut -d' ' -f2)
status 1 "$INJECT" -p "$VICTIM" -f 'share_*'
refused "process $other (vforker), of vfork or clone, shares the memory of $VICTIM "
grep -q memfd: "/proc/$VICTIM/maps" && die "something was mapped for nothing"
unharmed
tell part '^done' >/dev/null

inject_bg -p "$VICTIM" -f 'share_*' -o /dev/null
other=$(tell linger '^done' | cut -d' ' -f2)
WANT=5 inject_end
has_line "PROBES REMAIN.*process $other shares the memory" trace.err ||
	die "the closing line does not name the process that shares"
victim_works
status 5 "$INJECT" stop -p "$VICTIM"
victim_works
tell part '^done' >/dev/null
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

# One that ends meanwhile is waited for.
for _ in 1 2 3; do
	inject_bg -p "$VICTIM" -f 'share_*' -o /dev/null
	tell linger '^done' >/dev/null
	kill -INT "$TRACER"
	sleep 0.05
	tell part '^done' >/dev/null
	inject_wait
	removed
done

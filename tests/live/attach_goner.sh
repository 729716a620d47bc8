#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_goner: a thread that has been joined is still listed for as long as the kernel is
# not done with it. It runs no code any more, and does not stop: nothing waits for it.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

listed() { ls "/proc/$VICTIM/task" | wc -l; }

victim goner
for _ in 1 2 3; do
	tell leave '^left 2$' >/dev/null
	status 0 "$INJECT" -p "$VICTIM" -f goner_work -d 0.05 -o /dev/null
	[ "$(listed)" = 2 ] || die "it was not listed all the time"
	removed
	tell rest '^rested' >/dev/null
done
unharmed

#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_goner: a thread that has been joined is still listed for as long as it gets no
# processor. It runs no code any more, and does not stop: nothing waits for it.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

listed() { ls "/proc/$VICTIM/task" | wc -l; }

victim goner
# The kernel gives it some time each second, which may be any part of it.
for _ in $(seq 20); do
	tell leave '^left ' >/dev/null
	status 0 "$INJECT" -p "$VICTIM" -f goner_work -d 0.05 -o /dev/null
	after=$(listed)
	removed
	tell rest '^rested' >/dev/null
	[ "$after" != 2 ] || exit 0
done
die "it was waited for until it was gone"

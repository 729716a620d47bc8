#!/bin/bash
# SPDX-License-Identifier: MIT
# static_ifunc: a program without a loader chooses its indirect functions itself. Their names mean
# what it has chosen, and calls by its linkage table come there; the stubs of that table have no
# names, and are no functions.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

for kind in static static_pie; do
	VICTIMS=$BUILD/tests/victims/kinds/$kind
	victim single
	"$INJECT" list -p "$VICTIM" -f strlen >list.out
	! grep -q 'resolver' list.out || die "$kind: what it has chosen is not known: $(cat list.out)"
	"$INJECT" list "$VICTIMS/single" -f '*' 2>/dev/null | grep -q '@plt' &&
		die "$kind: a stub that has no name is listed"
	inject_bg -p "$VICTIM" -f strlen
	tell nothing '^what is nothing' >/dev/null
	inject_end
	removed
	traced "strlen("
	victim_quit
done

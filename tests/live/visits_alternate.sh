#!/bin/bash
# SPDX-License-Identifier: MIT
# visits_alternate: visits of two kinds in turn, each of which needs other stubs
# and islands in the same places, take no more memory the fourth time than the
# first.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the functions are x86-64 code"

mappings() { wc -l <"/proc/$VICTIM/maps"; }

# Bytes of stubs and islands: memory without a name that can be executed.
stubs()
{
	local range perms rest

	while read -r range perms _ _ _ rest; do
		[ "$perms" = r-xp ] && [ -z "$rest" ] || continue
		dd if="/proc/$VICTIM/mem" bs=4096 skip=$((0x${range%-*} / 4096)) \
			count=$(((0x${range#*-} - 0x${range%-*}) / 4096)) status=none
	done <"/proc/$VICTIM/maps" | tr -d '\0' | wc -c
}

# both GLOB: entries and exits, then entries only.
both()
{
	status 0 "$INJECT" -p "$VICTIM" -f "$1" -d 0.02 -o /dev/null --max-pause 2s
	removed
	status 0 "$INJECT" -p "$VICTIM" -f "$1" -d 0.02 -o /dev/null --max-pause 2s --entry-only
	removed
}

# Puns; stubs with jumps into each other; and an exit that has no place, as is known at the attach
# only.
for subject in 'packed busy_*' 'lingerer linger' 'bound bound_call'; do
	victim "${subject% *}"
	both "${subject#* }"
	before="$(mappings) $(stubs)"
	for _ in 1 2 3; do
		both "${subject#* }"
	done
	after="$(mappings) $(stubs)"
	[ "$before" = "$after" ] || die "mappings, bytes of stubs: $before have become $after"
	victim_quit
done

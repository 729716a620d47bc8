#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_scattered: islands on thousands of pages, where each jump can lead to one
# place only; also for a later visit between those that there are, and for one that
# uses them all again.
# timeout: 300
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(</proc/sys/vm/max_map_count)" -ge 30000 ] || skip "vm.max_map_count leaves less room"

mappings() { wc -l <"/proc/$VICTIM/maps"; }

# exact WANT GLOB...: all WANT functions and, of all 7168, every call of a phase.
exact()
{
	local made want=$1

	inject_bg -p "$VICTIM" "${@:2}" -o /dev/null --max-pause 2s
	has_line ": $want of $want functions probed, $want with exits" trace.err ||
		die "not all are probed"
	tell pace '^ok pace' >/dev/null
	sleep 0.3
	made=$(tell end '^counted' | cut -d' ' -f2)
	inject_end
	removed
	[ "$made" -gt 0 ] || die "no calls made"
	[ "$(closing lost)" = 0 ] || die "lost at a slow pace"
	[ "$want" != 7168 ] || [ "$(closing calls)" = "$made" ] ||
		die "$made calls made, $(closing calls) recorded"
}

victim scattered 2
before=$(mappings)
exact 1024 -f 'near_*'
[ $(($(mappings) - before)) -lt 64 ] || die "$before mappings have become $(mappings)"
# Pages lie beside those of the visit before.
exact 3072 -f 'far_*[02468]'
exact 7168 -f 'far_*' -f 'near_*'
after=$(mappings)
exact 7168 -f 'far_*' -f 'near_*'
[ "$(mappings)" = "$after" ] || die "$after mappings have become $(mappings)"

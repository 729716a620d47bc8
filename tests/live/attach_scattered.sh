#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_scattered: islands on thousands of pages, where each jump can lead to one
# place only; also for a later visit between those that there are, for one that uses
# them all again, and for one of another kind, which leads them to its own stubs.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the functions are x86-64 code"
[ "$(</proc/sys/vm/max_map_count)" -ge 30000 ] || skip "vm.max_map_count leaves less room"

mappings() { wc -l <"/proc/$VICTIM/maps"; }

# exact EXITS WANT ARG...: all WANT functions, so many with exits, and, of all 7168,
# every call of a phase.
exact()
{
	local made exits=$1 want=$2

	inject_bg "${@:3}" -p "$VICTIM" -o /dev/null --max-pause 2s
	has_line ": $want of $want functions probed, $exits with exits" trace.err ||
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
exact 1024 1024 -f 'near_*'
[ $(($(mappings) - before)) -lt 64 ] || die "$before mappings have become $(mappings)"
# Pages lie beside those of the visit before.
exact 3072 3072 -f 'far_*[02468]'
exact 7168 7168 -f 'far_*' -f 'near_*'
after=$(mappings)
exact 0 7168 count -f 'far_*' -f 'near_*'
exact 7168 7168 -f 'far_*' -f 'near_*'
# No more than the other kind's stubs.
[ "$(mappings)" -le $((after + 2)) ] || die "$after mappings have become $(mappings)"

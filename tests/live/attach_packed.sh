#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_packed: functions of a few bytes without padding, all of them probed,
# entries and exits; every call counted, by threads that do nothing else. Then
# in a program that cannot be loaded anywhere, which has memory for some only.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the functions are x86-64 code"

# exact WANT MODE GLOB...: all WANT functions, and every call of a phase.
exact()
{
	local made want=$1 mode=$2

	inject_bg -p "$VICTIM" "${@:3}" -o /dev/null --max-pause 2s
	has_line ": $want of $want functions probed, $want with exits" trace.err ||
		die "not all are probed"
	tell "$mode" "^ok $mode" >/dev/null
	sleep 0.3
	made=$(tell end '^counted' | cut -d' ' -f2)
	inject_end
	removed
	[ "$made" -gt 0 ] || die "no calls made"
	[ "$mode" = pace ] || return 0
	[ "$(closing lost)" = 0 ] || die "lost at a slow pace"
	[ "$(closing calls)" = "$made" ] || die "$made calls made, $(closing calls) recorded"
}

victim packed 2
exact 10 pace -f 'pack_*'
exact 20 count -f 'pack_*' -f 'busy_*'
# Each by itself: what it keeps is then its neighbours' own code. Where that
# leads there may be no memory.
for f in 4 3 1 2 low tail next loop exits long; do
	"$INJECT" -q -p "$VICTIM" -f "busy_$f" -d 0.1 -o /dev/null >one.err 2>&1 ||
		[ $? = 3 ] || die "busy_$f alone: $(cat one.err)"
	unharmed
done
exact 10 pace -f 'pack_*'
echo quit >&9
exec 9>&-
wait "$VICTIM"
rm victim.in

victim packed_fixed 2
inject_bg -p "$VICTIM" -f 'busy_*' -o /dev/null --max-pause 2s
sleep 0.3
inject_end
removed
[ "$(closing calls)" -gt 0 ] || die "no calls recorded"

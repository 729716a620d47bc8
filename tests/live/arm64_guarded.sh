#!/bin/bash
# SPDX-License-Identifier: MIT
# arm64_guarded: in pages where a processor lets calls and jumps by registers come to landing pads
# only, the pads stay, with the probes behind them. (A processor that guards nothing shows that
# the rest is right.)
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = aarch64 ] || skip "the functions are arm64 code"
victim arm64_guarded
if grep -qw bti /proc/cpuinfo; then
	sed -n '/guarded.so$/,/^VmFlags/p' "/proc/$VICTIM/smaps" | grep '^VmFlags.* bt' >/dev/null ||
		die "its pages are not guarded"
fi
for _ in 1 2 3 4 5; do
	inject_bg -p "$VICTIM" -f 'guard_*@guarded.so' -o /dev/null
	has_line ': 9 of 9 functions probed, 9 with exits' trace.err || die "not all are probed"
	gets_on 100
	inject_end
	removed
done
status 0 "$INJECT" count -p "$VICTIM" -f 'guard_*@guarded.so' -d 0.3
for f in plain any least sixteen single by_single switch calls tail; do
	grep -qE "[1-9][0-9]* +guard_$f\b|guard_$f\b.* [1-9]" trace.out || die "guard_$f was not counted"
done
removed

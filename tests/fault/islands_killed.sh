#!/bin/bash
# SPDX-License-Identifier: MIT
# islands_killed: inject is killed, again and again, while threads of the target map
# pages for islands. Each visit knows the pages that are there, so that in the end no
# function wants for a place, and none was mapped twice. And the pages are mapped by
# code in the target, not each by a remote call.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the functions are x86-64 code"
need_root
[ "$(</proc/sys/vm/max_map_count)" -ge 30000 ] || skip "vm.max_map_count leaves less room"

mappings() { wc -l <"/proc/$VICTIM/maps"; }
# visit WANT [COMMAND...]: run by COMMAND; its status is to match WANT.
visit()
{
	local got=0

	timeout $((120 * ${PATIENCE:-1})) "${@:2}" "$INJECT" -p "$VICTIM" -f 'far_[1-3]*' -d 0.1 \
		-o /dev/null --max-pause 10s >trace.out 2>trace.err 9>&- || got=$?
	grep -qx "$1" <<<"$got" || die "status $got, not $1"
}
failer() { echo "$BUILD/tests/fault/failer" -o "$1" "${@:2}" --; }

victim scattered 2
whole=$(mappings)
# shellcheck disable=SC2046
visit 0 $(failer "${CALL[ptrace]}")
calls=$(sed -n 's/^failer: \([0-9]*\) system calls.*/\1/p' trace.err)
[ "$calls" -lt 2000 ] || die "$calls calls of ptrace for 3333 pages"
has_line ': 3333 of 3333 functions probed' trace.err || die "not all are probed"
removed
whole=$(($(mappings) - whole))
victim_quit

victim scattered 2
before=$(mappings)
# Calls of ptrace, and writes to the target's memory, in the loans. A visit that finds all pages
# there makes fewer, and may come to its end.
for n in 101:24 18:6 101:34 18:8 101:44 18:10 101:54 18:12 18:14; do
	# shellcheck disable=SC2046
	visit '137\|0' $(failer "${n%:*}" -k -n "${n#*:}")
	victim_works
done
killed=$(($(mappings) - before))
# Where all is slow a loan ends early; what else a dead visit leaves is less than that.
[ "$killed" -gt 150 ] || die "no visit came as far as to map pages ($killed)"
visit 0
has_line ': 3333 of 3333 functions probed, 3333 with exits' trace.err || die "places were lost"
removed
# Of each visit that was killed before it had its payload in, its own memory is left.
[ $(($(mappings) - before)) -lt $((whole + 150)) ] ||
	die "$before mappings have become $(mappings), and $whole are needed"

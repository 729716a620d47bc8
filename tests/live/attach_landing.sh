#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_landing: an indirect jump that cannot be resolved leads to the second
# instruction of its own function, which a probe has to leave as it is.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# Where the address is a sum that a place of the function is in, the jump stays inside of it.
exits=0
[ "$(uname -m)" = x86_64 ] || exits=6
victim landing 2
for _ in 1 2 3; do
	inject_bg -p "$VICTIM" -f 'land_*' -f 'jump_*' -o /dev/null
	has_line ": 6 of 6 functions probed, $exits with exits" trace.err || die "not all are probed"
	sleep 0.1
	inject_end
	removed
done
inject_bg -p "$VICTIM" -f 'land_*' -o /dev/null
tell pace '^ok pace' >/dev/null
sleep 0.2
made=$(tell end '^counted' | cut -d' ' -f2)
inject_end
removed
[ "$(closing lost)" = 0 ] || die "lost at a slow pace"
[ "$(closing calls)" = "$made" ] || die "$made calls made, $(closing calls) recorded"

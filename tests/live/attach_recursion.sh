#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_recursion: calls nested 100,000 deep, deeper than any table of them: none
# is lost, and each is left.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim recursion
status 0 "$INJECT" -p "$VICTIM" -f 'rec_*' -D 30 -d 0.5
traced rec_even
removed

# The three outermost, and none of the others is missed.
inject_bg -p "$VICTIM" -f 'deep_*' -D 3
made=$(tell deep '^deep' | cut -d' ' -f2)
inject_end
removed
[ "$made $(closing calls) $(closing events) $(closing lost)" = "100001 3 6 0" ] ||
	die "-D 3: $(tail -n 1 trace.err)"

# One inside of the other, and in no other call.
inject_bg record -p "$VICTIM" -f 'deep_*' -m 16M
made=$(tell deep '^deep' | cut -d' ' -f2)
inject_end
removed
[ "$made" = 100001 ] || die "made $made calls"
[ "$(closing calls)" = "$made" ] || die "$(closing calls) calls, not $made"
[ "$(closing lost)" = 0 ] || die "events were lost"
[ "$(closing events)" = $((2 * made)) ] || die "$(closing events) events"

#!/bin/bash
# SPDX-License-Identifier: MIT
# arm64_words: what arm64 alone has: a function of a single branch, exclusive pairs and atomic
# instructions where a window is, tail calls by x16 and x17, signed return addresses, and pointers
# with a tag. Each call is counted once, with its exit.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = aarch64 ] || skip "the functions are arm64 code"
victim arm64_words 3
for _ in 1 2 3; do
	inject_bg -p "$VICTIM" -f 'word_*' -f 'busy_*' -o /dev/null
	has_line ': 25 of 25 functions probed, 25 with exits' trace.err || die "not all are probed"
	gets_on 100
	inject_end
	removed
done
inject_bg -p "$VICTIM" -f 'word_*' -o /dev/null
tell pace '^ok pace' >/dev/null
gets_on 500
made=$(tell end '^counted' | cut -d' ' -f2)
inject_end
removed
[ "$(closing lost)" = 0 ] || die "lost at a slow pace"
[ "$(closing calls)" = "$made" ] || die "$made calls made, $(closing calls) recorded"
[ "$(closing events)" = $((2 * made)) ] || die "$made calls made, $(closing events) events"
tell quit '^bye$' >/dev/null
wait "$VICTIM" || die "$(grep WRONG victim.out)"

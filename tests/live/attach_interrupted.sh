#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_interrupted: a thread was interrupted in bytes that become a jump, and
# its handler returns there only then. Where the handler's stack cannot be walked
# as far as that, it is not known, and there is no jump.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the functions are x86-64 code"

victim lingerer
for _ in 1 2 3; do
	tell read '^ok read' >/dev/null
	inject_bg -p "$VICTIM" -f 'linger*' -o /dev/null
	has_line ': 3 of 3 functions probed, 3 with exits' trace.err || die "not all are probed"
	tell go '^ok go' >/dev/null
	inject_end
	removed
done
tell nest '^ok nest' >/dev/null
inject_bg -p "$VICTIM" -f 'linger*' -o /dev/null --max-pause 2s
has_line ': 2 of 3 functions probed, 2 with exits' trace.err || die "not the others"
tell go '^ok go' >/dev/null
inject_end
removed

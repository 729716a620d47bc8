#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_interrupted: a thread was interrupted in bytes that become a jump, and
# its handler returns there only then.
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

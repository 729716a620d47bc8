#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_tailcalls: tail calls of every kind, and switches by jump table.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim tailcalls
for _ in 1 2 3; do
	status 0 "$INJECT" -p "$VICTIM" -f 'tail_*' -d 0.3
	traced tail_b
	removed
	! has_line 'by a jump' trace.err || die "all of them are probed"
done

# Where the other function is not probed, that is said, and where it is listed. (A jump through a
# pointer leads to an unknown one.)
status 0 "$INJECT" -p "$VICTIM" -f tail_a -d 0.1
has_line '^inject: tail_a goes on in tail_[bc] by a jump: its calls end there' trace.err ||
	die "not said where calls end"
status 0 "$INJECT" -p "$VICTIM" -f tail_b -d 0.1
! has_line 'by a jump' trace.err || die "said of a jump that may lead anywhere"
status 0 "$INJECT" list -v "$VICTIMS/tailcalls" -f tail_a
has_line '^  goes on by a jump in tail_b, tail_c$' trace.out ||
	has_line '^  goes on by a jump in tail_c, tail_b$' trace.out || die "not listed"

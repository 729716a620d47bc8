#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_text_differs: code that is not what its file holds is not touched.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 2
# The first byte of an instruction that is no breakpoint and no jump: nop.
old=$("$BUILD/tests/tools/poke" "$VICTIM" count_frame 90)
status 3 "$INJECT" -p "$VICTIM" -f count_frame
has_line differs trace.err || die "does not say why"
"$BUILD/tests/tools/poke" "$VICTIM" count_frame "$old" >/dev/null
unharmed

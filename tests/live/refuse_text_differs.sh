#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_text_differs: code that is not what its file holds is not touched.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 2
# What is no breakpoint and no jump.
old=$("$BUILD/tests/tools/poke" "$VICTIM" count_frame "$NOP")
status 3 "$INJECT" -p "$VICTIM" -f count_frame
has_line differs trace.err || die "does not say why"
"$BUILD/tests/tools/poke" "$VICTIM" count_frame "$old" >/dev/null
unharmed

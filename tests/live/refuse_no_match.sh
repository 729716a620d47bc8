#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_no_match: status 3, and the nearest names.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 2
status 3 "$INJECT" -p "$VICTIM" -f spin_leef
has_line spin_leaf trace.err || die "does not name the nearest"
status 3 "$INJECT" -p "$VICTIM" -f 'nothing_like_this_*'
unharmed

#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_foreign_breakpoint: a breakpoint that is not ours, and a jump, at an entry.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 2
# In a function that is not called now, so that no thread runs into it.
old=$("$BUILD/tests/tools/poke" "$VICTIM" count_frame "$TRAP")
status 3 "$INJECT" -p "$VICTIM" -f count_frame
has_line 'count_frame' trace.err
has_line 'foreign breakpoint' trace.err || die "does not say why"
now=$("$BUILD/tests/tools/poke" "$VICTIM" count_frame)
[ "$now" = "$TRAP" ] || die "a foreign breakpoint was removed"
# The others are probed, and the breakpoint is left alone.
status 0 "$INJECT" -p "$VICTIM" -f 'count_*' -f 'spin_*' -d 0.2
has_line 'refused count_frame: foreign breakpoint' trace.err || die "does not name it"
traced spin_leaf
now=$("$BUILD/tests/tools/poke" "$VICTIM" count_frame)
[ "$now" = "$TRAP" ] || die "a foreign breakpoint was removed"
"$BUILD/tests/tools/poke" "$VICTIM" count_frame "$JUMP" >/dev/null
status 3 "$INJECT" -p "$VICTIM" -f count_frame
"$BUILD/tests/tools/poke" "$VICTIM" count_frame "$old" >/dev/null
unharmed
status 0 "$INJECT" -p "$VICTIM" -f count_frame -d 0.1
removed

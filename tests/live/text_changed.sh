#!/bin/bash
# SPDX-License-Identifier: MIT
# text_changed: code that differs from its file. What stood there before us, a
# debugger's breakpoint, is known and left alone, to a later stop too. What
# came while we traced is named, wherever it is, and never called verified.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

poke() { "$BUILD/tests/tools/poke" "$VICTIM" "$@"; }

victim spin_threads 2
# Where inject never was.
old=$(poke count_frame "$TRAP")
status 0 "$INJECT" stop -p "$VICTIM"
has_line 'differs from its files in 1 place' trace.err || die "does not tell"
! has_line "text verified" trace.err || die "says verified"

# Before us.
status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -d 0.1 -o /dev/null
has_line 'all probes removed, text verified' trace.err || die "does not know it"
inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null
kill -KILL "$TRACER"
wait "$TRACER" || true
status 0 "$INJECT" stop -p "$VICTIM"
has_line 'all probes removed, text verified' trace.err || die "stop does not know it"
[ "$(poke count_frame)" = "$TRAP" ] || die "a foreign breakpoint was removed"
poke count_frame "$old" >/dev/null
unharmed

# Meanwhile, in a function that has no probe.
inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null
poke count_frame "$TRAP" >/dev/null
WANT=5 inject_end
has_line 'differs from its file at 0x' trace.err || die "does not tell where"
! has_line "text verified" trace.err || die "says verified"
# The probes themselves are out.
poke count_frame "$old" >/dev/null
unharmed
status 0 "$INJECT" stop -p "$VICTIM"
has_line 'text verified' trace.err
unharmed

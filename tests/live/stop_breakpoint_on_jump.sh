#!/bin/bash
# SPDX-License-Identifier: MIT
# stop_breakpoint_on_jump: a debugger's breakpoint stands on our jump when the probes
# are to go. What leads into that jump's middle stays as well, and goes with it
# when the debugger has put it back.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

poke() { "$BUILD/tests/tools/poke" "$VICTIM" "$@"; }

# In a function that is not called now, so that no thread runs into it.
victim loops 2 idle
inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null
kill -KILL "$TRACER"
wait "$TRACER" || true
jump=$(poke spin_head "$TRAP")
is_jump "$jump" || die "no jump stood there"
status 5 "$INJECT" stop -p "$VICTIM"
[ "$(poke spin_head)" = "$TRAP" ] || die "a foreign breakpoint was removed"
poke spin_head "$jump" >/dev/null
tell spin '^ok spin' >/dev/null
victim_works
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

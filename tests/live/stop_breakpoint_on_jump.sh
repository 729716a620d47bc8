#!/bin/bash
# SPDX-License-Identifier: MIT
# stop_breakpoint_on_jump: a debugger's int3 stands on our jump when the probes
# are to go. What leads into that jump's middle stays as well, and goes with it
# when the debugger has put it back.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the loops are x86-64 code"
poke() { "$BUILD/tests/tools/poke" "$VICTIM" "$@"; }

# In a function that is not called now, so that no thread runs into it.
victim loops 2 idle
inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null
kill -KILL "$TRACER"
wait "$TRACER" || true
[ "$(poke spin_head cc)" = e9 ] || die "no jump stood there"
status 5 "$INJECT" stop -p "$VICTIM"
[ "$(poke spin_head)" = cc ] || die "a foreign breakpoint was removed"
poke spin_head e9 >/dev/null
tell spin '^ok spin' >/dev/null
victim_works
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

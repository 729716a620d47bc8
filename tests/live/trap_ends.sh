#!/bin/bash
# SPDX-License-Identifier: MIT
# trap_ends: however a trace with breakpoints ends, SIGTRAP is given back: in
# forked children, by `stop` when inject was killed; and a process that runs into a breakpoint
# of its own dies of that, as it would have.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the functions are x86-64 code"

trap_it() { inject_bg -p "$VICTIM" -f trap_step -f trap_exit --trap; }

# catches PID: does it have a handler of SIGTRAP?
catches() { [ $((0x$(awk '$1 == "SigCgt:" { print $2 }' "/proc/$1/status") >> 4 & 1)) = 1 ]; }

victim trapped
trap_it
child=$(tell trap_child '^forked ')
child=${child#forked }
started "$child"
catches "$child" || die "the child has no handler"
kill -KILL "$TRACER"
wait "$TRACER" 2>/dev/null || true
victim_works
catches "$VICTIM" || die "the probes went with inject"
status 0 "$INJECT" stop -p "$VICTIM"
unharmed
clean "$child"
[ "$(tell trap_action '^action ')" = 'action default' ] || die "the handler stays"
! catches "$child" || die "the child's handler stays"
[ "$(cut -d' ' -f3 "/proc/$child/stat")" != Z ] || die "the child has ended"

# Another tool's breakpoint lies over a jump when the trace ends, so all of that function stays, its
# trap, too: and so does the handler, or the function's next call would be the process's end.
poke() { "$BUILD/tests/tools/poke" "$VICTIM" "$@"; }
inject_bg -p "$VICTIM" -f trap_idle --trap
has_line 'of them trap' trace.err || die "nothing traps"
jump=$(poke trap_idle "$TRAP")
WANT=5 inject_end
poke trap_idle "$jump" >/dev/null
[ "$(tell trap_idle '^idle')" = 'idle 17' ] || die "trap_idle computes something else"
status 0 "$INJECT" stop -p "$VICTIM"
unharmed
[ "$(tell trap_action '^action ')" = 'action default' ] || die "the handler stays"

# Its own breakpoint, without a handler.
WANT=4
trap_it
echo trap_die >&9
inject_wait
ended=0
wait "$VICTIM" || ended=$?
[ "$ended" = $((128 + 5)) ] || die "it ended with $ended, not by SIGTRAP"
VICTIM=

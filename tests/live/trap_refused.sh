#!/bin/bash
# SPDX-License-Identifier: MIT
# trap_refused: nothing traps in a process that blocks SIGTRAP, would in a handler or once
# one returns, or ignores it. It is said why; what needs no trap is probed.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the functions are x86-64 code"

# traps_refused HOW WHY: with the same functions as ever.
traps_refused()
{
	victim trapped "$1"
	status 3 "$INJECT" -p "$VICTIM" -f trap_step --trap -d 0.2
	has_line "$2" trace.err || die "$1: does not say $2"
	unharmed
	status 0 "$INJECT" -p "$VICTIM" -f trap_step -f trap_own --trap -d 0.2
	has_line '1 of 2 functions probed' trace.err || die "$1: what of trap_own?"
	removed
	[ "$(tell trap_action '^action ')" = "$3" ] || die "$1: it has another handler"
	victim_quit
}

traps_refused blocks 'thread [0-9]* blocks SIGTRAP' 'action default'
traps_refused suspends block 'action default'
traps_refused answers block 'action default'
traps_refused ignores 'ignores SIGTRAP' 'action ignored'
traps_refused masks block 'action default'

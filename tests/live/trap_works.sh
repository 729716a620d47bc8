#!/bin/bash
# SPDX-License-Identifier: MIT
# trap_works: where only breakpoints have room they are probed with --trap and
# not without; each call is right, and SIGTRAP is the program's own again.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the functions are x86-64 code"

action() { tell trap_action '^action '; }

# probed_by_traps: both functions are, each with its exits.
probed_by_traps()
{
	has_line '2 of 2 functions probed, 2 with exits' trace.err || die "not all are probed"
	has_line '2 of them trap' trace.err || die "does not say that it traps"
	has_line 'functions probed (2 by traps)' trace.err || die "does not say it in the end"
	traced 'trap_step()'
	traced 'trap_exit()'
	removed
}

for how in '' handles; do
	# shellcheck disable=SC2086 # none, or one
	victim trapped $how
	before=$(action)
	status 3 "$INJECT" -p "$VICTIM" -f trap_step -d 0.2
	for _ in 1 2 3; do
		inject_bg -p "$VICTIM" -f trap_step -f trap_exit --trap -o calls.txt
		[ "$(action)" = 'action other' ] || die "what handles the breakpoints?"
		[ "$(tell trap_fork '^child ')" = 'child 7' ] || die "a child does not live"
		wait_until 30 grep -q 'trap_step()' calls.txt || die "no call"
		wait_until 30 grep -q 'trap_exit()' calls.txt || die "no call"
		inject_end
		cp calls.txt trace.out
		probed_by_traps
		[ "$(action)" = "$before" ] || die "it was: $before; it is: $(action)"
		[ "$(tell trap_fork '^child ')" = 'child 7' ] || die "a child does not live"
	done
	victim_quit
done

#!/bin/bash
# SPDX-License-Identifier: MIT
# interrupted: a profiler's signal handler walks the stack, by unwind tables and by
# frame pointers, wherever it has interrupted the thread: inside of stubs and
# recording routines, too. No walk crashes, loops, or sees what is not there, and all
# of them come to the end of the stack.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

samples() { tell walks '^walks'; }
at_least() { [ "$(samples | cut -d' ' -f2)" -ge "$1" ]; }

# more N: so many more samples; prints those that were taken, and the short ones.
more()
{
	local n short n2 short2

	read -r _ n _ _ _ short < <(samples)
	wait_until 120 at_least $((n + $1)) || die "the timer does not sample"
	read -r _ n2 _ _ _ short2 < <(samples)
	echo "$((n2 - n)) samples, $((short2 - short)) end early"
}

whole()
{
	more "$1" >samples
	grep -q ' 0 end early' samples || { cat samples; die "walks end early $2"; }
}

victim interrupted
whole 50 "without probes"
inject_bg -p "$VICTIM" -f 'in_*' -o /dev/null
whole 400 "in probed code"
inject_end
removed
whole 50 "after the removal"
[ "$(closing calls)" -gt 100000 ] || die "few calls were sampled: $(closing calls)"

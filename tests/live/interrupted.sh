#!/bin/bash
# SPDX-License-Identifier: MIT
# interrupted: a profiler's signal handler walks the stack, by unwind tables and by
# frame pointers, wherever it has interrupted the thread: inside of stubs and
# recording routines, too. No walk crashes, loops, or sees what is not there; and
# after the removal all of them come to the end of the stack again.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

samples() { tell walks '^walks'; }
at_least() { [ "$(samples | cut -d' ' -f2)" -ge "$1" ]; }

# more N: so many more samples; prints those that were taken, and the short ones.
more()
{
	local n short n2 short2

	read -r _ n _ _ _ short < <(samples)
	wait_until 40 at_least $((n + $1)) || die "the timer does not sample"
	read -r _ n2 _ _ _ short2 < <(samples)
	echo "$((n2 - n)) samples, $((short2 - short)) end early"
}

victim interrupted
more 50 >before
grep -q ' 0 end early' before || { cat before; die "walks end early without probes"; }
inject_bg -p "$VICTIM" -f 'in_*' -o /dev/null
echo "in probed code: $(more 400)"
inject_end
removed
more 50 >after
grep -q ' 0 end early' after || { cat after; die "walks end early after the removal"; }
[ "$(closing calls)" -gt 100000 ] || die "few calls were sampled: $(closing calls)"

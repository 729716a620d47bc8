#!/bin/bash
# SPDX-License-Identifier: MIT
# neighbours: the jump of an exit that keeps bytes of the next function's entry, whose jump then has
# to lead to an island, too: islands are where they can be reached from, and their stubs from them.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the functions are x86-64 code"
# (Where memory is free differs from run to run.)
for _ in 1 2 3 4 5; do
	victim neighbours
	inject_bg -p "$VICTIM" -f near_first -f near_second -o /dev/null
	has_line '2 of 2 functions probed, 2 with exits' trace.err || { cat trace.err; die "refused"; }
	inject_end
	removed
	exec 9>&-
	wait "$VICTIM"
	rm victim.in
done

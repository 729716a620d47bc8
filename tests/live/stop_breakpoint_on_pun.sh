#!/bin/bash
# SPDX-License-Identifier: MIT
# stop_breakpoint_on_pun: a debugger's int3 stands on a jump whose neighbour's
# distance has bytes of it, or has bytes of the neighbour, when the probes are to
# go. What shares bytes stays together, and goes when the debugger has gone.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the functions are x86-64 code"
poke() { "$BUILD/tests/tools/poke" "$VICTIM" "$@"; }

victim packed 2 idle
for f in 4 3 1 2 low tail next loop exits long; do
	# They are not called now, so no thread runs into it.
	inject_bg -p "$VICTIM" -f 'busy_*' -o /dev/null
	kill -KILL "$TRACER"
	wait "$TRACER" || true
	jump=$(poke "busy_$f" cc)
	[ "$jump" != cc ] || die "busy_$f was not probed"
	status 5 "$INJECT" stop -p "$VICTIM"
	[ "$(poke "busy_$f" "$jump")" = cc ] || die "a foreign breakpoint was removed"
	tell spin '^ok spin' >/dev/null
	victim_works
	status 0 "$INJECT" stop -p "$VICTIM"
	unharmed
	tell idle '^ok idle' >/dev/null
done

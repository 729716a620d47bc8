#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_many_functions: 10,000 functions at once, and a call of each counted; and timed,
# for which the first visit takes the room.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

has_all() { has_line '10000 of 10000 functions probed, 10000 with exits' trace.err; }

# A process and its first visit, by this verb. (The victim is bound: a jump at an exit leads to one
# place, where one process in a hundred has its heap.)
begin()
{
	rm -f victim.in
	victim many_functions
	inject_bg "$1" -p "$VICTIM" -f 'many_*' --max-pause 5s "${@:2}"
	has_all && return
	inject_end
	victim_quit
	false
}

# The calls of a visit that has begun.
call_twice()
{
	tell "call 2" '^called' >/dev/null
	inject_end
	removed
}

count_calls()
{
	call_twice
	[ "$(closing lost)" = 0 ] || die "events were lost"
	[ "$(closing calls)" = 20000 ] || die "$(closing calls) calls, not 20000"
	[ "$(grep -o 'many_[0-9]*' trace.out | sort -u | wc -l)" = 10000 ] || die "not each"
}

begin trace -m 16M || begin trace -m 16M || die "not all"
count_calls
inject_bg -p "$VICTIM" -f 'many_*' -m 16M --max-pause 5s
has_all || die "not all"
count_calls
victim_quit

begin hist --json || begin hist --json || die "not all"
call_twice
[ "$(grep -c '"calls":2,' trace.out)" = 10000 ] || die "not each was timed twice"

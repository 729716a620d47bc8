#!/bin/bash
# SPDX-License-Identifier: MIT
# flight_filter: what a process keeps that records by itself may be changed while it runs, by how long
# calls take, by a condition, by how deep they are, in any order; threads that are there take it at once,
# and what is shown of calls stays what it was. What cannot be is refused, and said.
# timeout: 1200
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need jq

field() { sed -n 2p trace.out | cut -f"$1"; }
look() { status 0 "$INJECT" status -p "$VICTIM"; }
shot() { status 0 "$INJECT" snapshot -p "$VICTIM" -o "$1" && "$INJECT" replay --json "$1" >"$1.json"; }
filter() { status 0 "$INJECT" filter -p "$VICTIM" "$@"; }
start() { status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f 'step_*' "$@"; }
stop() { status 0 "$INJECT" stop -p "$VICTIM" && unharmed; }

# kept N FILTER: of one run, and what status says of it.
kept()
{
	local before

	look
	before=$(field 6)
	tell run '^run ' >/dev/null
	look
	[ "$(field 8)" = 0 ] || die "lost: $(cat trace.out)"
	[ "$(field 10)" = "$2" ] || die "status says $(field 10), not $2"
	[ $((($(field 6) - before) / 2)) = "$1" ] ||
		die "$2: $((($(field 6) - before) / 2)) calls, not $1"
}

victim sifted

# From a time to conditions and back. The fast path leaves out what is short, and asks nothing.
start -t 10s
kept 0 '-t 10s'
filter -t 0 -w 'i == 7'
has_line "^inject: 2 functions do not have what the condition asks for, and none of their calls is kept: step_sleeps, step_leaves$" \
	trace.err || die "says: $(cat trace.err)"
has_line "by -w 'i == 7' from now on; so far calls by -t 10s$" trace.err || die "says: $(cat trace.err)"
kept 1600 "-w 'i == 7'"
filter -w 'retval == 8'
kept 1600 "-w 'retval == 8'"
# What is open may be asked at its end, by what is known of it.
filter -w 'us >= 6320 && duration > 6ms && caller == outer_round'
kept 8 "-w 'us >= 6320 && duration > 6ms && caller == outer_round'"
stop
start -f 'outer_*' -t 10s
filter -t 0 -w 'caller == "outer_*" && i == 5 && depth == 2'
kept 1600 "-w 'caller == \"outer_*\" && i == 5 && depth == 2'"
filter -D 1
kept 0 "-D 1 -w 'caller == \"outer_*\" && i == 5 && depth == 2'"
filter -D 0
kept 1600 "-w 'caller == \"outer_*\" && i == 5 && depth == 2'"
filter -t 10s
kept 0 "-t 10s -w 'caller == \"outer_*\" && i == 5 && depth == 2'"
filter -w '' -D 2
kept 0 '-t 10s -D 2'
filter -t 0 -D 1
kept 1600 '-D 1'
# Each leaves what it has replaced; it is used again.
for i in {1..40}; do
	filter -w "i == $i && retval == $((i + 1)) && duration < 10s"
done
filter -D 0
kept 1600 "-w 'i == 40 && retval == 41 && duration < 10s'"

# What is wrong is said where, and changes nothing.
status 2 "$INJECT" filter -p "$VICTIM" -w 'i == '
status 1 "$INJECT" filter -p "$VICTIM" -w 'j == 7'
has_line "no argument 'j' (it has i)$" trace.err || die "says: $(cat trace.err)"
has_line '^inject:     ^$' trace.err || die "no column: $(cat trace.err)"
status 1 "$INJECT" filter -p "$VICTIM" -w 'i == 3 || comm == "x"'
refused 'start leaves'
kept 1600 "-w 'i == 40 && retval == 41 && duration < 10s'"
stop

# What -a shows of a call stays right, whatever a condition reads besides.
start -w 'i == 7' -a
kept 1600 "-w 'i == 7'"
filter -w 'i == 9 && retval == 10'
kept 1600 "-w 'i == 9 && retval == 10'"
shot shown
jq -es 'map(select(.type == "call")) | length > 3000 and
	all(.[]; .func == "step_short" and (.args.i | tonumber) + 1 == (.ret | tonumber) and
		(.args.i == "7" or .args.i == "9")) and any(.[]; .args.i == "7") and
		any(.[]; .args.i == "9")' shown.json >/dev/null || die "$(head -n 3 shown.json)"
stop

# Calls that were started without a filter have a depth, and no more.
start -f 'outer_*'
tell run '^run ' >/dev/null
status 1 "$INJECT" filter -p "$VICTIM" -w 'i == 7'
refused 'start with -w true'
filter -D 1
kept 1600 '-D 1'
filter -D 0
look
before=$(field 6)
tell run '^run ' >/dev/null
look
# Where all is slow that may cost more than a processor, so that the gates are closed before its end.
[ "${PATIENCE:-1}" = 1 ] && least=3200000 || least=3200
[ "$(field 6)" -gt $((before + least)) ] || die "-D 0 keeps $(($(field 6) - before)) events"
stop
start -t 10s -o kept
status 1 "$INJECT" filter -p "$VICTIM" -w 'i == 7'
refused 'no room for a condition'
filter -t 5ms
stop
start -w true -o kept_too
filter -w 'i == 7'
kept 1600 "-w 'i == 7'"
stop

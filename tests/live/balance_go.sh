#!/bin/bash
# SPDX-License-Identifier: MIT
# balance_go: of programs of Go's, with C and without, each call of each function has an
# exit; but for those of the scheduler by which a thread goes over to another goroutine,
# and what goroutines and threads are in at the end.
# timeout: 240
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/balance_lib.sh
. "$ROOT/tests/balance_lib.sh"

# shellcheck disable=SC2034 # used by `program`: for all that is recorded
buffer=256M
export GOCACHE=$PWD/cache HOME=$PWD

# shellcheck disable=SC2012 # names of versions
go=$(command -v go || ls -1 /usr/lib/go-*/bin/go 2>/dev/null | tail -1) || true
[ -n "$go" ] || skip "no Go compiler here"
goroot=$("$go" env GOROOT)

# accounted NAME LATE: the calls of ./recorded. Nothing began before us but of LATE; what
# did not return nor stays open is the scheduler's. Lost is only what a handler calls that
# comes while a record is made (payload/slow.c): of a signal to preempt that was sent, and
# of which no handler is seen.
accounted()
{
	"$INJECT" replay recorded --json -o calls.json
	echo "$1: $(tail -n 1 trace.err)"
	awk -v LATE="$2" '
	function bad() { print "unexplained: " $0; wrong = 1 }
	/^{"type":"lost"/ { lost++ }
	!/^{"type":"call"/ { next }
	/"func":"runtime.signalM"/ { sent++ }
	/"func":"runtime.sigtrampgo"/ { handled++ }
	/"entry_only":true/ { entries++; next }
	/"exit_lost":true/ || (/"began_before":true/ && $0 !~ "\"func\":\"" LATE "\"") { bad() }
	/"end":"return"/ { returned++ }
	/"end":"open"/ { open++ }
	/"end":"unwound"/ {
		unwound++
		if ($0 !~ /"func":"runtime\.(mstart[01]?|schedule|execute|park_m|newstack|goexit[01]|gopreempt_m|gosched_m|goschedImpl|goschedguarded_m|goyield_m|preemptPark|exitsyscall0|gcstopm|stoplockedm)"/)
			bad()
	}
	END {
		printf "  %d returned, %d unwound, %d open, %d entry only\n",
			returned, unwound, open, entries
		if (lost > sent - handled) {
			print "unexplained: " lost " losses, " sent - handled " handlers not seen"
			wrong = 1
		}
		exit wrong || returned < 1000
	}' calls.json >balance.txt || { head -n 20 balance.txt; die "$1: not balanced"; }
	cat balance.txt
}

# The runtime has a thread's id from minit on: there we come.
program without_c '*' "$goroot/bin/gofmt" "$goroot/src/fmt/print.go"
accounted without_c 'runtime.minit'

program with_c '*' "$go" version
accounted with_c '-'

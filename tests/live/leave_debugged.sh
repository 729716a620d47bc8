#!/bin/bash
# SPDX-License-Identifier: MIT
# leave_debugged: a debugger is attached when the probes are to go. They go as soon as it
# has detached; Ctrl-C ends the wait, and says that they are left.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need gdb

# debug FILE: attached until the file is there.
debug()
{
	gdb -nx -batch -iex 'set debuginfod enabled off' -iex 'set auto-solib-add off' \
		-p "$VICTIM" -ex "shell touch attached; while [ ! -e $1 ]; do sleep .05; done" \
		>gdb.out 2>&1 &
	DEBUGGER=$!
	wait_until 60 test -e attached || { cat gdb.out; die "gdb does not attach"; }
	rm attached
}

detach()
{
	touch "$1"
	wait "$DEBUGGER" || true
	rm "$1"
}

victim spin_threads 2

inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null
debug go
kill -INT "$TRACER"
wait_until 30 grep -q 'traces .*: waiting for it to detach' trace.err || die "it does not wait"
detach go
wait "$TRACER" || die "status $?"
has_line 'all probes removed, text verified' trace.err || die "not removed"
unharmed

# A second one: the probes stay, and that is said; stop waits, too.
inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null
debug go
kill -INT "$TRACER"
wait_until 30 grep -q 'waiting for it to detach' trace.err || die "it does not wait"
kill -INT "$TRACER"
code=0
wait "$TRACER" || code=$?
[ "$code" = 5 ] || { cat trace.err; die "status $code, not 5"; }
grep -q 'already traced by gdb' trace.err || { cat trace.err; die "not said what is in the way"; }
"$INJECT" stop -p "$VICTIM" 2>stop.err &
STOP=$!
wait_until 30 grep -q 'waiting for it to detach' stop.err || die "stop does not wait"
detach go
wait "$STOP" || { cat stop.err; die "stop: status $?"; }
grep -q 'all probes removed, text verified' stop.err || { cat stop.err; die "not stopped"; }
unharmed

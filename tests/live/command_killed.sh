#!/bin/bash
# SPDX-License-Identifier: MIT
# command_killed: inject is killed. A command that has not begun ends with it;
# one that has runs on, and inject stop removes the probes.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# Held before its code runs, for as long as a large program is planned.
big=$(command -v gdb || command -v python3.11) || skip "no large program here"
"$INJECT" -f '*' -o calls.txt -- "$big" --version >begun 2>trace.err </dev/null 9>&- &
TRACER=$!
started "$TRACER"
child_of() { CHILD=$(cat "/proc/$TRACER/task/"*/children 2>/dev/null | tr -d ' '); [ -n "$CHILD" ]; }
# In the loader it is stopped twice, for a moment; then its libraries are there.
held()
{
	grep -q libc.so "/proc/$CHILD/maps" && sleep 0.1 &&
		[ "$(sed -n 's/^State:.\(.\).*/\1/p' "/proc/$CHILD/status")" = t ]
}
wait_until 20 child_of || die "inject starts nothing"
wait_until 20 held || die "the command is not held"
started "$CHILD"
kill -KILL "$TRACER"
gone() { [ ! -e "/proc/$CHILD" ]; }
wait_until 30 gone || die "a command is left that has not begun"
[ ! -s begun ] || die "it has run after all"

: >victim.out
"$INJECT" -f 'command_*' -o calls.txt -- "$VICTIMS/command" terms 1 \
	>victim.out 2>trace.err </dev/null 9>&- &
TRACER=$!
started "$TRACER"
wait_until 20 has_line '^ready$' victim.out || die "the command does not begin"
pid=$(sed -n 's/^inject: command (\([0-9]*\),.*/\1/p' trace.err)
started "$pid"
kill -KILL "$TRACER"
wait "$TRACER" 2>/dev/null || true
kill -0 "$pid" || die "the command has ended with inject"
status 0 "$INJECT" stop -p "$pid"
clean "$pid"
kill -TERM "$pid"
ended() { has_line '^1 terms$' victim.out; }
wait_until 30 ended || die "the command does not end by itself"

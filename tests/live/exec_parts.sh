#!/bin/bash
# SPDX-License-Identifier: MIT
# exec_parts: a thread executes another program while a child of vfork lives on in the memory
# of the one before, for as long as that may be: inject sees it nevertheless, and says so.
# The new program is left alone, the child is cleaned, and what comes next is an attach.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

tidy() { rm -f go; }
ended() { ! kill -0 "$TRACER" 2>/dev/null; }

victim leaver 3 "$PWD/go" 7
inject_bg -p "$VICTIM" -f leave_work -o /dev/null
echo part >go.new
mv go.new go
wait_until 30 has_line '^again$' victim.out || die "the new program does not begin"
wait_until 30 ended || die "does not see that the program is another one"
WANT=4 inject_wait
has_line 'the target executes another program' trace.err || die "does not say what happened"
child=$(tr -d " " <"/proc/$VICTIM/task/$VICTIM/children")
clean "$child"
unharmed
status 0 "$INJECT" -p "$VICTIM" -f leave_work -d 0.1 -o /dev/null
removed
rm go
victim_quit
got=0
wait "$VICTIM" || got=$?
[ $got = 7 ] || die "the program ended with status $got"

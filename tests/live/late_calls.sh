#!/bin/bash
# SPDX-License-Identifier: MIT
# late_calls: a library is loaded by a probed call, and called there; its own probes
# come while that lasts. So of the inner call only the exit is seen, and it ends none
# of those around it.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

calls_of() { grep "\"func\":\"$1\"" calls.json; }

cp "$VICTIMS/plugin.so" plugin.so
victim replugger
inject_bg -p "$VICTIM" -f 'replug_*' -f 'held_*' --json -o calls.json
cp "$VICTIMS/plugin.so" new.so
mv new.so plugin.so
echo hold >&9
wait_until 20 has_line 'plugin.so was loaded: 1 of 1 ' trace.err || die "the load was not noticed"
tell x '^held x$' >/dev/null
inject_end
removed
calls_of held_call | grep '"began_before":true' | grep -q '"depth":1' ||
	{ cat calls.json; die "the call in the library is not one that began before"; }
calls_of replug_around | grep -q '"end":"return"' ||
	{ cat calls.json; die "the call around it does not return"; }
! grep exit_lost calls.json || die "an exit was lost"

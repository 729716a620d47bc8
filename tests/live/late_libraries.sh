#!/bin/bash
# SPDX-License-Identifier: MIT
# late_libraries: a library that is loaded while its program is traced is probed,
# also the next time that it is loaded, and cleaned like the others.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

put() { cp "$VICTIMS/$1.so" new.so && mv new.so plugin.so; }
load() { tell "load $1" '^loaded' >/dev/null; }
loaded() { [ "$(grep -c 'plugin.so was loaded: 1 of 1 ' trace.err)" -ge "$1" ]; }
calls() { grep -c 'plugin_answer();' calls.txt; }
more_calls() { [ "$(calls)" -gt "$1" ]; }

# grows N: the N-th load was noticed, and calls come in.
grows()
{
	local n

	wait_until 20 loaded "$1" || die "load $1 was not noticed"
	n=$(calls || true)
	wait_until 20 more_calls "$n" || die "no calls after load $1"
}

put plugin
victim replugger
# By the name of its file, or by that which it is linked by.
for name in plugin.so libplugin.so.3 'libplugin*'; do
	status 0 "$INJECT" list -p "$VICTIM" -f "plugin_*@$name"
	traced plugin_answer
	status 3 "$INJECT" list -p "$VICTIM" -f 'plugin_*' -N "*@$name"
done
status 3 "$INJECT" list -p "$VICTIM" -f 'plugin_*@libplugin.so.4'
inject_bg -p "$VICTIM" -f 'plugin_*' -o calls.txt
wait_until 20 more_calls 0 || die "no calls"
put plugin_other
load other			# another file, at the same place
grows 1
load other			# the same again
grows 2
put plugin
load plugin
grows 3
inject_end
removed
[ "$(closing calls)" -ge "$(calls)" ] || die "fewer calls counted than shown"

# Unloaded for good when the trace ends; and a killed injector's.
inject_bg -p "$VICTIM" -f 'plugin_*' -o calls.txt
put plugin_other
load other
grows 1
kill -KILL "$TRACER"
wait "$TRACER" || true
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

# A command: what is meant is not there at its start.
status 0 "$INJECT" -f 'plugin_*@plugin.so' -o calls.txt -- "$VICTIMS/command" plugin "$PWD/plugin.so" calls.txt
[ "$(closing functions)" = 1 ] || die "the plugin was not probed"
# A pattern without a library is a mistake.
status 125 "$INJECT" -f 'plugin_*' -o calls.txt -- "$VICTIMS/command" plugin "$PWD/plugin.so" calls.txt

# Probes that another inject has removed are no library that was loaded again.
rm -f victim.in
victim spin_threads 2
inject_bg -p "$VICTIM" -f 'count_*' -o calls.txt
"$INJECT" stop --force -p "$VICTIM" 2>stop.err || die "$(cat stop.err)"
sleep 0.5
clean
! has_line 'was loaded' trace.err || die "the probes were put in again"
inject_end
unharmed

#!/bin/bash
# SPDX-License-Identifier: MIT
# usdt_libraries: the semaphores of a library that is loaded again, at the same place: they are
# raised in its new memory, too, whatever is in them by then, and lowered there once.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

put() { cp "$VICTIMS/$1.so" new.so && mv new.so plugin.so; }
load() { tell "load $1" '^loaded' >/dev/null; }
loaded() { [ "$(grep -c 'plugin.so was loaded: 1 of 1 ' trace.err)" -ge "$1" ]; }
calls() { grep -c 'us:answer' calls.txt; }
more_calls() { [ "$(calls)" -gt "$1" ]; }

# asked N: so often the semaphore is raised.
asked()
{
	local got

	got=$(tell asked '^asked')
	[ "$got" = "asked $1" ] || die "$got, not $1"
}

# grows N: the N-th load was noticed, and calls come in.
grows()
{
	local n

	wait_until 20 loaded "$1" || die "load $1 was not noticed"
	n=$(calls || true)
	wait_until 20 more_calls "$n" || die "no calls after load $1"
}

put plugin_places0
victim replugger
asked 0
inject_bg -p "$VICTIM" --usdt 'us:answer@plugin.so' -o calls.txt
wait_until 20 more_calls 0 || die "no calls"
asked 1
load plugin
grows 1
asked 1
put plugin_places2		# others have raised it by the time that it is seen
load plugin
grows 2
asked 3
put plugin_places0
load plugin
grows 3
asked 1
put plugin_places2
load plugin
grows 4
asked 3
inject_end
removed
asked 2

# Loaded again when inject was killed: nothing of ours is in it.
inject_bg -p "$VICTIM" --usdt 'us:answer@plugin.so' -o calls.txt
asked 3
kill -KILL "$TRACER"
WANT=137 inject_wait
load plugin
asked 2
status 0 "$INJECT" stop -p "$VICTIM"
asked 2
inject_bg -p "$VICTIM" -f plugin_answer -o calls.txt
inject_end
removed
asked 2
victim_quit

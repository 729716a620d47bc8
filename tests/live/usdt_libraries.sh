#!/bin/bash
# SPDX-License-Identifier: MIT
# usdt_libraries: the semaphores of a library that is loaded again, at the same place: they are
# raised in its new memory, too, whatever is in them by then, and lowered there once.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need strace

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

# The same, and another tracer has written to the place since, as uprobes do. (Not a breakpoint,
# for no one would catch it.)
[ "$(uname -m)" = x86_64 ] || exit 0
written()
{
	python3 - "$VICTIM" "$1" <<'END'
import re, subprocess, sys
pid, byte = sys.argv[1], bytes.fromhex(sys.argv[2])
notes = subprocess.run(['readelf', '-n', 'plugin.so'], capture_output=True, text=True).stdout
place = int(re.search(r'Location: (0x[0-9a-f]+)', notes).group(1), 16)
base = min(int(line.split('-')[0], 16) for line in open(f'/proc/{pid}/maps')
           if 'plugin.so' in line)
with open(f'/proc/{pid}/mem', 'r+b', buffering=0) as mem:
    mem.seek(base + place)
    mem.write(byte)
END
}
put plugin_places0
victim replugger
inject_bg -p "$VICTIM" --usdt 'us:answer@plugin.so' -o calls.txt
asked 1
kill -KILL "$TRACER"
WANT=137 inject_wait
put plugin_places2
load plugin
written f8			# clc
status 5 "$INJECT" stop -p "$VICTIM"
asked 2
written 90
status 0 "$INJECT" stop -p "$VICTIM"
asked 2
victim_quit

# Another tool's byte lies over our jump as we leave, and is taken back.
put plugin_places0
victim replugger
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 --usdt 'us:answer@plugin.so'
asked 1
kill -STOP "$VICTIM"
written cc
status 5 "$INJECT" stop -p "$VICTIM"
written e9
kill -CONT "$VICTIM"
asked 1
status 0 "$INJECT" stop -p "$VICTIM"
asked 0

# A second image of the library is loaded, below the one that is probed.
for verb in stop remove; do
	victim_quit
	victim replugger
	status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f replug_around \
		--usdt 'us:answer@plugin.so'
	asked 1
	tell twin twin >/dev/null
	[ $verb = stop ] || status 0 "$INJECT" remove -p "$VICTIM" -f replug_around
	status 0 "$INJECT" stop -p "$VICTIM"
	asked 0
done
victim_quit
victim replugger

# A removal was killed: what it took out is gone, and yet the library was not loaded again.
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f plugin_asked --usdt 'us:answer@plugin.so'
asked 1
status 137 strace -f -e trace=exit -e inject=exit:signal=SIGKILL:when=1 -o /dev/null \
	"$INJECT" remove -p "$VICTIM" -f plugin_asked
status 0 "$INJECT" add -p "$VICTIM" -f replug_around
status 0 "$INJECT" stop -p "$VICTIM"
asked 0

# In a session: it is loaded again, and added again.
status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f replug_around --usdt 'us:answer@plugin.so'
asked 1
load plugin
asked 0
status 0 "$INJECT" add -p "$VICTIM" --usdt 'us:answer@plugin.so'
asked 1
status 0 "$INJECT" stop -p "$VICTIM"
asked 0
victim_quit

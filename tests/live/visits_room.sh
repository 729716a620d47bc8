#!/bin/bash
# SPDX-License-Identifier: MIT
# visits_room: a first visit takes few addresses, and gives most of them back; a later one that
# wants larger rings takes those behind them; but not what the program has mapped there meanwhile.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3
GIB=$((1 << 20))	# in KiB

# Lines that are executed.
mkfifo lines
: >said
python3 -c 'import sys
for line in sys.stdin:
    exec(line)
    sys.stdout.flush()' <lines >>said 2>&1 9>&- &
server=$!
started $server
exec 7>lines

# ask LINE: what it prints
ask()
{
	local n

	n=$(wc -l <said)
	echo "$1" >&7
	wait_until 30 has_more "$n" || die "python3 does not answer: $(cat said)"
	tail -n 1 said
}

has_more() { [ "$(wc -l <said)" -gt "$1" ]; }
size() { awk '$1 == "VmSize:" { print $2 }' "/proc/$server/status"; }
session() { grep memfd:inject-session "/proc/$server/maps"; }

# visit OPTION...: `most` is how many addresses the process had meanwhile, in KiB
visit()
{
	inject_bg "$@" -p "$server" -f 'PyLong_From*' -o /dev/null
	most=$(size)
	inject_end
	clean "$server"
	[ "$(session | wc -l)" = 1 ] || die "not one session: $(session)"
	[ "$(ask 'print(6 * 7)')" = 42 ] || die "python3 does not count any more"
}

[ "$(ask 'import ctypes; print("ready")')" = ready ]
before=$(size)
visit
[ $((most - before)) -gt $GIB ] || die "it takes $((most - before)) KiB only"
[ $((most - before)) -lt $((2 * GIB)) ] || die "it takes $((most - before)) KiB"
[ $(($(size) - before)) -lt $((GIB / 8)) ] || die "it keeps $(($(size) - before)) KiB"
kept=$(size)

visit -m 16M
[ $((most - before)) -gt $((4 * GIB)) ] || die "the session has not grown: $most KiB"
[ "$(size)" = "$kept" ] || die "it keeps $(size) KiB, not $kept"

# 0x100022: private, of no file, nothing replaced.
end=$(session | sed 's/^[0-9a-f]*-\([0-9a-f]*\) .*/\1/')
ask "libc = ctypes.CDLL(None); libc.mmap.restype = ctypes.c_void_p; at = libc.mmap(ctypes.c_void_p(0x$end), ctypes.c_size_t(4096), 3, 0x100022, -1, 0); print('mapped')" >mapped
ask "ctypes.memmove(at, b'kept', 4); print(hex(at))" >page
[ "$(cat page)" = "0x$end" ] || die "nothing could be mapped at $end: $(cat page)"
grown=$(size)
visit -m 24M
[ "$most" = "$grown" ] || die "it has grown from $grown to $most KiB"
[ "$(ask 'print(ctypes.string_at(at, 4))')" = "b'kept'" ] || die "the program's own page is gone"
exec 7>&-
wait $server || die "python3 ended with $?"

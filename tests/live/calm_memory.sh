#!/bin/bash
# SPDX-License-Identifier: MIT
# calm_memory: what inject looks for in all code it reads from files, not from the memory
# of the process, which holds up a thread that maps there meanwhile: a quarter of the code at
# most, for all of a visit.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
need strace python3
idle_python

code=$(awk '$2 ~ /x/ && $6 ~ /^\// { split($1, at, "-"); print "echo $((0x" at[2] " - 0x" at[1] "))" }' \
	"/proc/$SERVER/maps" | sh | awk '{ n += $1 } END { print n }')
status 0 strace -qq -f -y -e trace=pread64 -o strace.out "$INJECT" -d 0.01 -o /dev/null \
	-p "$SERVER" -f 'PyObject_*'
has_line 'all probes removed, text verified' trace.err || die "not removed"
read=$(sed -nE 's,.*pread64\([0-9]+</proc/[0-9]+/mem>.* = ([0-9]+)$,\1,p' strace.out |
	awk '{ n += $1 } END { print n + 0 }')
echo "$code bytes of code, $read read from memory"
[ "$read" -gt 0 ] || die "what it reads cannot be seen"
[ "$read" -lt $((code / 4)) ] || die "too much of it"
clean "$SERVER"

#!/bin/bash
# SPDX-License-Identifier: MIT
# backtrace_gdb: a debugger that stops a probed process sees its real callers.
# timeout: 120
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need gdb
victim spin_threads 2
inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null
frames()
{
	timeout -s KILL 30 gdb -nx -batch -iex 'set debuginfod enabled off' \
		-p "$VICTIM" -ex 'thread apply all bt' 2>gdb.err >gdb.out || die "gdb failed"
}
for _ in 1 2 3; do
	frames
	# Every thread's outermost frames are the C library's start and main or
	# the thread's function: no return address leads elsewhere.
	[ "$(grep -c 'clone3\|__libc_start\|_start' gdb.out)" -ge 3 ] || { cat gdb.out; die "a stack ends nowhere"; }
	grep -q 'corrupt' gdb.out && die "gdb: corrupt stack"
done
inject_end
removed

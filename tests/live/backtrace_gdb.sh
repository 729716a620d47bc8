#!/bin/bash
# SPDX-License-Identifier: MIT
# backtrace_gdb: a debugger that stops a probed process sees the same stacks as
# without probes. The threads sleep inside probed functions; one that stands in
# a recording routine has no file around it, and is not looked at here.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need gdb
victim sleeper 3

# The functions on each stack, a thread a line.
look()
{
	timeout -s KILL 120 gdb -nx -batch -iex 'set debuginfod enabled off' \
		-p "$VICTIM" -ex 'thread apply all bt' 2>gdb.err >gdb.out || die "gdb failed"
	grep -q 'corrupt' gdb.out && die "gdb: corrupt stack"
	awk '/^Thread/ { print "" } /^#/ { sub(/0x[0-9a-f]+ in /, ""); printf "%s ", $2 }' gdb.out |
		sed '/^$/d' | sort
}

# The same when all sleep. A thread that was met on its way from one sleep to the next has
# another stack, with probes or without.
stacks()
{
	for _ in 1 2 3 4 5; do
		look >looked
		grep -qvE '^_*(GI___)?(clock_nanosleep|poll|syscall_cancel_arch) ' looked || break
	done
	cat looked
}

stacks >before
grep -q sleeper_run before || { cat gdb.out; die "no stack to compare"; }
inject_bg -p "$VICTIM" -f 'sleeper_*' -f 'victim_*' -o trace.txt
wait_until 30 grep -q sleeper_work trace.txt || die "not traced"
for _ in 1 2 3; do
	stacks >during
	diff before during || { cat gdb.out; die "another stack than without probes"; }
done
inject_end
removed

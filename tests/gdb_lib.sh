# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# gdb_lib: what gdb sees with the unwinder that comes with inject. Sourced after lib.sh.

need gdb
gdb -nx -batch -ex 'python print(1)' 2>&1 | grep -q '^1$' || skip "this gdb has no Python"

# with_gdb TOOL ARG...: to gdb.out, with the commands of that file of tests/tools.
with_gdb()
{
	timeout -s KILL $((200 * ${PATIENCE:-1})) gdb -nx -batch -iex 'set debuginfod enabled off' \
		-ex "source $ROOT/gdb/inject.py" -ex "source $ROOT/tests/tools/$1" \
		"${@:2}" >gdb.out 2>gdb.err || die "gdb failed"
	! grep -A5 'Python Exception' gdb.err || die "the unwinder fails"
}

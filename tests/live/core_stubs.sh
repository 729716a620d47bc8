#!/bin/bash
# SPDX-License-Identifier: MIT
# core_stubs: in a core, gdb's own or the kernel's, gdb sees the callers of a thread that
# stood in a stub, in a recording routine or in the payload, as it saw them before.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need gdb
gdb -nx -batch -ex 'python print(1)' 2>&1 | grep -q '^1$' || skip "this gdb has no Python"

with_gdb()
{
	timeout -s KILL 90 gdb -nx -batch -iex 'set debuginfod enabled off' \
		-ex "source $ROOT/gdb/inject.py" -ex "source $ROOT/tests/tools/gdb_cores.py" \
		"$@" >gdb.out 2>gdb.err || die "gdb failed"
	! grep -A5 'Python Exception' gdb.err || die "the unwinder fails"
}

# callers KIND CORE: are as they were.
callers()
{
	with_gdb "$VICTIMS/profiled" "$2" -ex "callers core $1"
	want=$(sed -n "s/^live $1 //p" live.txt)
	got=$(sed -n "s/^core $1 //p" gdb.out)
	echo "$1: $got"
	[[ $want =~ prof_.*command.*main ]] || die "no stack of kind $1: $want"
	[ "$got" = "$want" ] || die "in a core, $1: $got, not $want"
}

ulimit -c unlimited || skip "no cores are allowed"
victim profiled
tell 'spin 1' '^spun' >/dev/null
inject_bg -p "$VICTIM" -f 'prof_*' -o /dev/null
with_gdb -p "$VICTIM" -ex 'tbreak command' -ex 'shell echo spin 100 >victim.in' \
	-ex continue -ex 'cores made'
cp gdb.out live.txt
for kind in stub routine payload; do
	callers $kind made.$kind
done
wait "$VICTIM" 2>/dev/null || true
rm victim.in
WANT=4 inject_wait
if [[ $(cat /proc/sys/kernel/core_pattern) =~ ^core ]]; then
	callers killed "$(compgen -G 'core*')"
else
	echo "the kernel's cores go elsewhere"
fi
VICTIM=

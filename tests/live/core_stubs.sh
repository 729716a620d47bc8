#!/bin/bash
# SPDX-License-Identifier: MIT
# core_stubs: in a core, gdb's own or the kernel's, gdb sees the callers of a thread that
# stood in a stub, in a recording routine or in the payload, as it saw them before.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/gdb_lib.sh
. "$ROOT/tests/gdb_lib.sh"

# live PID COMMAND...: the thread that is there from the start.
live()
{
	with_gdb gdb_cores.py -p "$1" -ex 'thread 1' "${@:2}"
	cp gdb.out live.txt
}

# callers PROGRAM KIND CORE: are as they were.
callers()
{
	with_gdb gdb_cores.py "$VICTIMS/$1" "$3" -ex "callers $2"
	want=$(sed -n "s/^live $2 //p" live.txt)
	got=$(sed -n "s/^core $2 //p" gdb.out)
	echo "$1 $2: $got"
	[[ $want =~ (prof|single|fork)_.*main ]] || die "no stack of $1, $2: $want"
	[ "$got" = "$want" ] || die "in a core of $1, $2: $got, not $want"
}

# killed PROGRAM: the kernel's core of the one that has died.
killed()
{
	wait_until 30 compgen -G 'core*' >/dev/null || die "$1 has left no core"
	callers "$1" killed "$(compgen -G 'core*')"
	rm core*
}

# The victim's first call is behind that.
spins=(-ex 'tbreak command' -ex 'shell echo spin 100 >victim.in' -ex continue)
gone() { wait "$VICTIM" 2>/dev/null || true; rm victim.in; }

ulimit -c unlimited || skip "no cores are allowed"
[[ $(cat /proc/sys/kernel/core_pattern) =~ ^core ]] || skip "cores go elsewhere"

# A second visit, which has arenas from the first.
victim profiled
status 0 "$INJECT" -p "$VICTIM" -f '*' -f '*@libc*' -d 0.05 -o /dev/null
removed
inject_bg -p "$VICTIM" -f 'prof_*' -o /dev/null
live "$VICTIM" "${spins[@]}" -ex 'cores made stub routine payload' \
	-ex 'tbreak *prof_leaf' -ex continue -ex 'dies stub'
for kind in stub routine payload; do callers profiled $kind made.$kind; done
gone
WANT=4 inject_wait
killed profiled

# Of the payload the kernel's core has no code, nor of a session that is a file.
for kind in slow payload; do
	victim profiled
	status 0 "$INJECT" start -p "$VICTIM" -f 'prof_*' -o "$kind" -m 128K
	live "$VICTIM" "${spins[@]}" -ex "dies $kind"
	gone
	killed profiled
done

# A child with its parent's probes.
victim forker
inject_bg -p "$VICTIM" -f 'fork_*' -o /dev/null
child=$(tell fork '^child' | cut -d' ' -f2)
live "$child" -ex 'tbreak *fork_outer' -ex continue -ex 'dies stub'
killed forker
inject_end
victim_quit

# Where there is no loader the payload was only mapped.
VICTIMS=$BUILD/tests/victims/kinds/static
victim single
inject_bg -p "$VICTIM" -f 'single_*' -o /dev/null
live "$VICTIM" -ex 'tbreak *single_inner' -ex continue -ex 'dies routine'
gone
WANT=4 inject_wait
killed single
VICTIM=

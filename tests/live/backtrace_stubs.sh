#!/bin/bash
# SPDX-License-Identifier: MIT
# backtrace_stubs: gdb, with the unwinder that comes with inject, sees the program's
# functions from every instruction of stubs, recording routines and the payload, each
# at an address and with callers that it had without probes. A thread that was led
# through all of it by a debugger goes on when that is gone.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/gdb_lib.sh
. "$ROOT/tests/gdb_lib.sh"

# stacks THREAD STEPS [COMMAND...]: of the program, a line a step.
stacks()
{
	with_gdb gdb_stacks.py -p "$VICTIM" "${@:3}" -ex "thread $1" -ex "stacks $2"
	sed -n 's/^at //p' gdb.out
}

# compare KIND...: each stack of probed.txt is one of plain.txt; of each kind are some.
compare()
{
	awk '{ kind = $1; sub(/^[a-z]+ /, "") }
		NR == FNR { known[$0] = 1; next }
		{ n[kind]++ }
		!($0 in known) { print "unknown stack: " kind " " $0 }
		END { for (k in n) print k, n[k] }' plain.txt probed.txt | sort | uniq -c >compared.txt
	grep -v unknown compared.txt
	! grep unknown compared.txt || die "stacks that there are not without probes"
	for kind; do grep -q " $kind " compared.txt || die "no stack of kind $kind"; done
}

# The thread that is led here calls for the first time: the payload has work to do.
# (In the plain run the linker would, too.)
victim profiled
tell 'spin 1' '^spun' >/dev/null
# Fewer steps where all is slow: the first call is in them.
few=1000 many=1500
[ "${PATIENCE:-1}" -lt 10 ] || few=250 many=250
begin=(-ex 'tbreak command' -ex 'shell echo spin 100 >victim.in' -ex continue)
stacks 1 $few "${begin[@]}" >plain.txt
inject_bg -p "$VICTIM" -f 'prof_*' -o /dev/null
wait_until 200 has_line '^spun 100$' victim.out || die "it does not go on"
stacks 1 $many "${begin[@]}" >probed.txt
compare stub payload program
grep -A1 '^#0 .* in \[inject\] ()' gdb.out | grep -q '^#1 .* in prof_' ||
	{ cat gdb.out; die "no name for a stub"; }
inject_end
removed
mapfile -t functions < <(nm "$VICTIMS/profiled" | sed -n 's/.* T \(prof_.*\)/\1/p')
mapfile -t all < <(places_of profiled "${functions[@]}")
every 5 2 "${all[@]}"
inject_bg -p "$VICTIM" "${PLACES[@]}" -o /dev/null
stacks 1 $many "${begin[@]}" >probed.txt
compare stub program
inject_end
removed
victim_quit

# Stubs of other kinds: punned, in holes, with jumps into each other. x86-64 alone has them.
[ -e "$VICTIMS/packed" ] || exit 0
victim packed
# (Sixteen rounds are some thousand steps: all of them are to be known.)
stacks 2 5000 -ex 'set scheduler-locking on' >plain.txt
inject_bg -p "$VICTIM" -f '*' -o /dev/null
stacks 2 2000 -ex 'set scheduler-locking on' >probed.txt
compare stub program
inject_end
removed

#!/bin/bash
# SPDX-License-Identifier: MIT
# core_dump: a process that crashes while it is traced leaves a core as large as
# without us: the rings, a gigabyte of address space, are not written to it.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# core [INJECT ARGUMENTS]: the size of a victim's core, in MiB.
core()
{
	rm -f core*
	victim profiled
	[ $# = 0 ] || { inject_bg -p "$VICTIM" "$@"; tell 'spin 10' '^spun' >/dev/null; }
	kill -ABRT "$VICTIM"
	wait "$VICTIM" 2>/dev/null || true
	[ $# = 0 ] || WANT=4 inject_wait
	rm victim.in
	VICTIM=
	[ "$(compgen -G 'core*' | wc -l)" = 1 ] || skip "no core here"
	size=$(du --apparent-size -m core* | cut -f1)
}

[[ $(cat /proc/sys/kernel/core_pattern) =~ ^core ]] || skip "cores go elsewhere"
ulimit -c unlimited || skip "no cores are allowed"
core
alone=$size
core -f 'prof_*' -o /dev/null
echo "MiB: $alone alone, $size traced"
[ "$size" -le $((alone + 32)) ] || die "the core is larger"

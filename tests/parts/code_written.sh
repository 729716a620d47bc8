#!/bin/bash
# SPDX-License-Identifier: MIT
# code_written: code is written by what makes it visible to processors whose instruction cache
# knows nothing of stores (docs/arm64.md). No emulator shows that it is not: so the sources are
# asked. A target's is written by its /proc/PID/mem, for process_vm_writev cleans no cache; our own,
# which the cost of a call is measured by, is cleaned once for each time that it is made executable.
cd "$ROOT" || exit 1

bad=0
fail()
{
	echo "code_written: $*" >&2
	bad=1
}

odd=$(grep -rn 'process_vm_writev(' --include=*.c injector payload)
[ -z "$odd" ] || fail "writes memory of a target otherwise: $odd"
odd=$(grep -rlE '\bpwritev?2?\(' --include=*.c injector payload |
	grep -vxF -e injector/ptrace/target_memory.c -e injector/session/segment.c)
[ -z "$odd" ] || fail "is not known to write data only: $odd"
odd=$(grep -rlE '\bmprotect\(' --include=*.c injector payload | grep -vxF injector/show/cost.c)
[ -z "$odd" ] || fail "makes code of its own: $odd"
[ "$(grep -c '\bmprotect(' injector/show/cost.c)" = \
	"$(grep -c '__builtin___clear_cache(' injector/show/cost.c)" ] ||
	fail "injector/show/cost.c makes memory executable, and does not clean the caches"
exit $bad

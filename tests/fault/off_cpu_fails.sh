#!/bin/bash
# SPDX-License-Identifier: MIT
# off_cpu_fails: the 1st, 2nd, 3rd ... system call fails by which a trace with --off-cpu asks for
# the kernel's events, or the trace is killed before it: the target lives on, and a trace that ends
# has traced.
# timeout: 1800
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

need_root

# fails STRIDE HOW: each STRIDE-th of the call in ONLY. All is recorded, and nothing printed.
fails()
{
	sweep "$1" "$2" again spin_threads,2 -p @ -f 'spin_*' --tid 1 -o /dev/null -d 0.03 \
		--max-pause 10s --off-cpu
}

ONLY=${CALL[perf_event_open]} fails 1 fail
ONLY=${CALL[perf_event_open]} fails 5 kill
ONLY=${CALL[ioctl]} fails 1 fail
ONLY=${CALL[mmap]} fails 11 fail
ONLY=${CALL[pread64]} fails 97 fail
[ -z "${SOAK:-}" ] || fails 1 fail

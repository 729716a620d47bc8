#!/bin/bash
# SPDX-License-Identifier: MIT
# trace_fails_single: the 1st, 2nd, 3rd ... system call of a trace fails, in a
# process of one thread, on the first visit and on a later one. After each its
# text is that of its file, and nothing of ours is there.
# timeout: 1800
# long: 40
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

need_root
sweep 7 fail fresh single
sweep 11 fail again single
# A write that fails (pwrite64) with what is said where nothing is mapped: no library is gone.
ERRNO=5 ONLY=${CALL[pwrite64]} sweep 1 fail again single

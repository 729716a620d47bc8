#!/bin/bash
# SPDX-License-Identifier: MIT
# remove_esrch: ESRCH from a system call of the removal is no proof that the
# target has ended: while it lives, inject never says so, and never status 4.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

need_root
export ERRNO=3
sweep 30 fail again spin_threads,2

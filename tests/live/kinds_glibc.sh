#!/bin/bash
# SPDX-License-Identifier: MIT
# kinds_glibc: programs with an older glibc, and a newer one, in states of ordinary ones.
# timeout: 1200
# long: 20
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/kinds_lib.sh
. "$ROOT/tests/kinds_lib.sh"

kind glibc_2.31 attach_single attach_churn fork_children_cleaned vfork_children
kind glibc_2.41 count_exact stop_after_kill9 pthread_exit_cancel

#!/bin/bash
# SPDX-License-Identifier: MIT
# kinds_musl: programs with the C library musl, in states of ordinary ones.
# timeout: 1200
# long: 20
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/kinds_lib.sh
. "$ROOT/tests/kinds_lib.sh"

kind musl count_exact pthread_exit_cancel fork_children_cleaned command_whole hist

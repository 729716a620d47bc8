#!/bin/bash
# SPDX-License-Identifier: MIT
# trace_fails_threads: the same where several threads never rest.
# timeout: 1800
# long: 50
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

need_root
export PACE=own
sweep 17 fail fresh spin_threads,2
sweep 29 fail again spin_threads,2

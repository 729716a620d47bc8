#!/bin/bash
# SPDX-License-Identifier: MIT
# trace_killed_threads: the same where several threads never rest.
# timeout: 1800
# long: 40
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

need_root
sweep 13 kill fresh spin_threads,2
PACE=own sweep 29 kill again spin_threads,2

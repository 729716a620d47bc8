#!/bin/bash
# SPDX-License-Identifier: MIT
# trace_killed_single: inject is killed right before its 1st, 2nd, 3rd ... system
# call. After each the target runs on, and inject stop brings back its text.
# timeout: 900
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

need_root
sweep 4 kill fresh single
sweep 4 kill again single

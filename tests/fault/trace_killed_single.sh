#!/bin/bash
# SPDX-License-Identifier: MIT
# trace_killed_single: inject is killed right before its 1st, 2nd, 3rd ... system
# call. After each the target runs on, and inject stop brings back its text. On the first
# visit it is each call of those since it has begun to do anything but read.
# timeout: 1800
# long: 70
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

need_root
FROM=thread sweep 1 kill fresh single
sweep 13 kill again single

#!/bin/bash
# SPDX-License-Identifier: MIT
# no_descriptors_fails: inject is killed right before its 1st, 2nd, 3rd ... system call, or
# that fails, as it visits a process that has no descriptor left, for the first time and
# again.
# timeout: 1800
# long: 60
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

need_root
opens_mappings || skip "may not open what is behind a mapping"
FROM=thread sweep 19 kill fresh no_descriptors
FROM=thread sweep 19 kill again no_descriptors
sweep 37 fail fresh no_descriptors
sweep 71 fail again no_descriptors,2
sweep 71 fail probed no_descriptors

#!/bin/bash
# SPDX-License-Identifier: MIT
# stop_fails: the 1st, 2nd, 3rd ... system call of inject stop fails, or it is
# killed before it, with probes in that a killed trace has left. The next one
# finishes. Killed it is before each call since it has begun to do anything but read.
# timeout: 1800
# long: 60
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

need_root
sweep 9 fail probed single stop -p @ --max-pause 10s
sweep 11 fail probed spin_threads,2 stop -p @ --max-pause 10s
FROM=thread sweep 1 kill probed single stop -p @ --max-pause 10s
FROM=thread sweep 7 kill probed spin_threads,2 stop -p @ --max-pause 10s

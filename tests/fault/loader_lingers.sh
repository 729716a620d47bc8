#!/bin/bash
# SPDX-License-Identifier: MIT
# loader_lingers: the thread that loaded the payload takes its time to end, and a
# write to the target's memory fails meanwhile: nothing that the thread runs, or
# began in, is taken back before it has ended.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

need_root
export ONLY=18		# pwrite64
sweep 1 fail fresh slow_ender -p @ -f 'end_*' -d 0.01 -o /dev/null --max-pause 10s

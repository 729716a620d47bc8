#!/bin/bash
# SPDX-License-Identifier: MIT
# trace_packed: the 1st, 2nd, 3rd ... system call of a trace with punned jumps
# fails, or it is killed before it.
# timeout: 1800
# long: 25
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the functions are x86-64 code"
need_root
packed=(-f 'pack_*' -f 'busy_*' -d 0.01 -o /dev/null --max-pause 10s)
sweep 251 fail fresh packed,2 -p @ "${packed[@]}"
sweep 251 kill fresh packed,2 -p @ "${packed[@]}"

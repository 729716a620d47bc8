#!/bin/bash
# SPDX-License-Identifier: MIT
# flight_fails: the 1st, 2nd, 3rd ... system call of inject start, and of the verbs
# that change or read what it has left, fails, or it is killed before it. The process
# goes on, and inject stop leaves nothing.
# timeout: 900
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

need_root
for how in fail kill; do
	sweep 480 $how fresh spin_threads,2 start -p @ -f 'spin_*'
	sweep 400 $how started spin_threads,2 add -p @ -f 'spin_*'
	sweep 400 $how started spin_threads,2 remove -p @ -f 'spin_*'
	sweep 1500 $how started spin_threads,2 snapshot -p @ -q -o shot
done

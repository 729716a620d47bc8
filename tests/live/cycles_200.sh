#!/bin/bash
# SPDX-License-Identifier: MIT
# cycles_200: 200 attach and detach cycles on threads that do nothing but call
# the probed functions. No crash, no probe lost, every call counted.
# timeout: 1800
# long: 50
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/cycles_lib.sh
. "$ROOT/tests/cycles_lib.sh"

victim spin_threads 3
cycles "$(fewer 200 40)" 7 'spin_*' 'count_*'

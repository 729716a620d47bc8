#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_many_threads: 200 threads, all running.
# timeout: 120
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 200
status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -d 0.5 --max-pause 2s
traced spin_leaf
removed

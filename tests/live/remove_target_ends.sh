#!/bin/bash
# SPDX-License-Identifier: MIT
# remove_target_ends: the target ends while it is traced: status 4, and what
# was printed is complete.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 2
inject_bg -p "$VICTIM" -f 'spin_*'
sleep 0.3
echo quit >&9
WANT=4 inject_wait
traced spin_leaf

rm victim.in
victim spin_threads 2
inject_bg -p "$VICTIM" -f 'spin_*'
kill -KILL "$VICTIM"
WANT=4 inject_wait

#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_as_user: a user other than root traces a process of that user.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

as_nobody spin_threads
victim spin_threads 2
status 0 "${AS[@]}" "$VICTIMS/inject" -p "$VICTIM" -f 'spin_*' -d 0.3
traced spin_leaf
removed

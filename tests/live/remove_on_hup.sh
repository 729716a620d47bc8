#!/bin/bash
# SPDX-License-Identifier: MIT
# remove_on_hup: SIGHUP removes the probes, and that is a good end.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 2
inject_bg -p "$VICTIM" -f 'spin_*'
sleep 0.3
inject_end HUP
removed
traced spin_leaf

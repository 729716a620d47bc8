#!/bin/bash
# SPDX-License-Identifier: MIT
# list_fails: the 1st, 2nd, 3rd ... system call of inject list fails, or it is
# killed before it. The process is not touched.
# timeout: 1800
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

need_root
PACE=own sweep 1 fail fresh single list -p @
sweep 7 fail fresh spin_threads,2 list -p @
sweep 5 kill fresh spin_threads,2 list -p @
# What of a file cannot be read (pread64) is not taken for missing: there are functions.
if [ -x "$VICTIMS/kinds/static/single" ]; then
	VICTIMS=$VICTIMS/kinds/static ONLY=${CALL[pread64]} sweep 1 fail fresh single list -p @ -f 'single_*'
fi

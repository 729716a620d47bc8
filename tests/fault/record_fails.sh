#!/bin/bash
# SPDX-License-Identifier: MIT
# record_fails: system calls of inject record fail, or it is killed before them.
# The target runs on with its own text, and the directory that it has left is in no other's way:
# the next recording takes its place, and can be read.
# timeout: 1200
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

need_root
for how in fail kill; do
	sweep 61 $how again single record -p @ -f 'single_*' -d 0.01 -o data --max-pause 10s
	victim single
	status 0 "$INJECT" record -p "$VICTIM" -f 'single_*' -d 0.2 -o data
	removed
	status 0 "$INJECT" report data
	traced single_
	victim_quit
done

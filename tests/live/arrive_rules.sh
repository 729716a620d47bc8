#!/bin/bash
# SPDX-License-Identifier: MIT
# arrive_rules: of rules by which control arrives nowhere in a window those that few made-up
# programs need: one program for each, whose plan is wrong without it.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3 as ld
[ "$(uname -m)" = x86_64 ] || skip "writes code of x86-64"
export PYTHONDONTWRITEBYTECODE=1

python3 "$ROOT/tests/arrive/rules.py" "$BUILD/tests/arrive/check" >rules.out ||
	{ cat rules.out; die "a rule is missing"; }
tail -n 1 rules.out

#!/bin/bash
# SPDX-License-Identifier: MIT
# stacks_go: callers of functions of Go's, as --stack tells them, are those that the program prints:
# with C and without, stripped, on stacks that have grown.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need python3
# On arm64 no walk has room enough on a goroutine's stack (docs/stacks.md).
[ "$(uname -m)" = x86_64 ] || skip "callers of Go's functions are told on x86-64 only"
export PYTHONDONTWRITEBYTECODE=1
[ -x "$BUILD/tests/victims/go_callers_static" ] || skip "no Go here"

for kind in '' _static _stripped; do
	program=$BUILD/tests/victims/go_callers$kind
	[ -x "$program" ] || continue
	status 0 "$INJECT" -q -f main.probed --stack=128 --json -o told.json -- "$program"
	python3 "$ROOT/tests/tools/stacks.py" trace.out told.json 128 main.probed ||
		die "go_callers$kind differs"
done

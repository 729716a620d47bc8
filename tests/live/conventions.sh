#!/bin/bash
# SPDX-License-Identifier: MIT
# conventions: arguments and results of every kind, and nested functions.
# timeout: 120
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim conventions
for _ in 1 2 3; do
	status 0 "$INJECT" -p "$VICTIM" -f 'conv_*' -d 0.3
	has_line ' 0 refused' trace.err || die "refused"
	for f in many large pair x87 x87_two complex wide sum apply; do
		traced "conv_$f("
	done
	removed
done

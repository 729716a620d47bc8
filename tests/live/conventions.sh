#!/bin/bash
# SPDX-License-Identifier: MIT
# conventions: arguments and results of every kind, and nested functions.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

kinds="many large pair longest longest_two complex wide sum apply"
if grep -qw avx512f /proc/cpuinfo; then
	kinds+=" avx512 nothing"
elif grep -qw sve /proc/cpuinfo; then
	kinds+=" neon sve nothing"
else
	echo "no AVX-512 and no SVE here: neither their arguments nor their masks"
fi
victim conventions
for _ in 1 2 3; do
	status 0 "$INJECT" -p "$VICTIM" -f 'conv_*' -d 0.3
	has_line ' 0 refused' trace.err || die "refused"
	for f in $kinds; do
		traced "conv_$f("
	done
	removed
done

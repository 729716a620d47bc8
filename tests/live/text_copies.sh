#!/bin/bash
# SPDX-License-Identifier: MIT
# text_copies: a program has mapped its text, or its whole file, a second time,
# above itself or below: what is probed is the text that the loader mapped.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

for place in above below; do
	for what in text file; do
		rm -f victim.in
		victim text_copies $what $place
		for _ in 1 2; do
			inject_bg -p "$VICTIM" -f 'copy_*'
			gets_on 640
			inject_end
			removed
			# All but one call of 64 are to the original.
			[ "$(closing calls)" -gt 500 ] || die "$what $place: the copy was probed"
		done
	done
done

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
			status 0 "$INJECT" -p "$VICTIM" -f 'copy_*' -d 0.2
			traced copy_work
			[ "$(closing calls)" -gt 10 ] || die "$what $place: the copy was probed"
			removed
		done
	done
done

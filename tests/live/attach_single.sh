#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_single: a process of one thread stays one, in the eyes of its libc too.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim single
before=$(tell threads '^threads')
[ "$before" = "threads 1 single 1" ] || die "before: $before"
for _ in 1 2 3; do
	status 0 "$INJECT" -p "$VICTIM" -f 'single_*' -d 0.2
	traced single_inner
	removed
done
after=$(tell threads '^threads')
[ "$before" = "$after" ] || die "$before became $after"

#!/bin/bash
# SPDX-License-Identifier: MIT
# stack_ends: a program of OCaml's kind lives on whose stack ends while its functions
# are probed, and its recursions come as deep as ever.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "stacks of OCaml's are known on x86-64 only"

victim overflower
for how in trace count hist "trace --entry-only"; do
	# shellcheck disable=SC2086
	status 0 "$INJECT" $how -d 0.5 -q -o calls.txt -p "$VICTIM" -f '*'
	[ "$(closing calls)" -gt 0 ] || die "no calls with $how"
	removed
done

# All of it, and the exits, too.
status 0 "$INJECT" list -p "$VICTIM" -f 'caml*'
for f in camlOver__so_1 camlOver__walk_2 camlOver__leaf_3 caml_call_far; do
	grep -w "$f" trace.out | grep -vE 'refused|entry-only' || die "$f is not probed whole"
done

#!/bin/bash
# SPDX-License-Identifier: MIT
# bare_stack: a function is jumped to where its stack ends. What is recorded of its calls, their
# callers, what their conditions ask and what lies at their stack pointer, is what can be read; and
# the program lives on.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "elsewhere a call pushes nothing"

victim bare_stack
for how in "" --stack "-w caller==bare_run" "-w caller!=bare_run" "-A bare_begun(at:str,x:ulong)" \
	"-t 1ns --stack"; do
	gets_on 10
	# shellcheck disable=SC2086
	inject_bg -p "$VICTIM" -f bare_begun $how
	gets_on 100
	inject_end
	removed
	case $how in
	*caller*) [ "$(closing calls)" = 0 ] || die "a caller is known that is not" ;;
	*-t*) ;;
	*) [ "$(closing calls)" -gt 50 ] || die "calls are missing" ;;
	esac
done
victim_quit

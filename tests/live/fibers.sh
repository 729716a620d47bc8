#!/bin/bash
# SPDX-License-Identifier: MIT
# fibers: calls that are left by swapcontext and go on in another thread.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim fibers
for _ in 1 2 3 4 5; do
	status 0 "$INJECT" -p "$VICTIM" -f 'fib_*' -d 0.3
	traced fib_deep
	traced fib_resume
	removed
done
# The C library's own switching probed too, as far as that can be.
status 0 "$INJECT" -p "$VICTIM" -f 'fib_*' -f '*context@libc.so*' -d 0.3
traced 'swapcontext()'
removed

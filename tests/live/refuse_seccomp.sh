#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_seccomp: a target in strict seccomp mode would be killed by any
# system call that is done on its behalf, and one with a filter might be.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

for kind in '' filter; do
	rm -f victim.in
	victim strict_seccomp $kind
	wait_until 30 has_line '^confined$' victim.out
	status 1 "$INJECT" -p "$VICTIM" -f 'strict_*'
	refused "seccomp ${kind:-mode}"
	kill -0 "$VICTIM" || die "the target was killed"
	clean
done

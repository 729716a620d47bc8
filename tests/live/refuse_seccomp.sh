#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_seccomp: a target in strict seccomp mode would be killed by any
# system call that is done on its behalf.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim strict_seccomp
status 1 "$INJECT" -p "$VICTIM" -f 'strict_*'
refused seccomp
kill -0 "$VICTIM" || die "the target was killed"
clean

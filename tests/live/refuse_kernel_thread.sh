#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_kernel_thread: kthreadd and its children have no text to probe.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ] || skip "no kernel threads to be seen here"
status 1 "$INJECT" -p 2 -f '*'
refused 'kernel thread'

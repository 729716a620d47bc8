#!/bin/bash
# SPDX-License-Identifier: MIT
# remove_on_pipe_closed: the reader of the output goes away (| head).
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 2
set +e
timeout 60 "$INJECT" -p "$VICTIM" -f 'spin_*' 2>trace.err | head -n 5 >trace.out
got=${PIPESTATUS[0]}
set -e
[ "$got" = 0 ] || die "status $got"
[ "$(wc -l <trace.out)" = 5 ] || die "printed nothing"
removed

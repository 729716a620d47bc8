#!/bin/bash
# SPDX-License-Identifier: MIT
# slow_output: a reader that takes nothing must not hold up the removal, and
# the target never waits for it.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 2
mkfifo slow
exec 8<>slow	# a reader that never reads
"$INJECT" -p "$VICTIM" -f 'spin_*' >slow 2>trace.err &
TRACER=$!
started "$TRACER"
wait_until 20 attached || die "did not attach"
sleep 0.5
victim_works
kill -INT "$TRACER"
text_is_back() { "$TEXTCHECK" "$VICTIM" >/dev/null; }
wait_until 30 text_is_back || die "the removal waits for the reader"
# A second signal drops what is not printed yet.
kill -INT "$TRACER"
ended() { ! kill -0 "$TRACER" 2>/dev/null; }
wait_until 30 ended || die "does not end"
wait "$TRACER" || die "status $?"
removed

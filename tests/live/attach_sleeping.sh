#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_sleeping: threads that sleep nearly always; rare calls are all seen.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim sleeper 8
inject_bg -p "$VICTIM" -f 'sleeper_*'
a=$(progress)
sleep 1
b=$(progress)
inject_end
removed
calls=$(closing calls)
[ "$(closing lost)" = 0 ] || die "lost some of few"
# One call per count of progress; the edges are not synchronised.
[ "$calls" -ge $((b - a - 8)) ] || die "$calls calls seen, $((b - a)) made"

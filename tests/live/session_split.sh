#!/bin/bash
# SPDX-License-Identifier: MIT
# session_split: the kernel shows the session as several mappings, since somebody has
# advised it of a part. It is one session still, for stop and for the next visit.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim scribbler
status 0 "$INJECT" start -p "$VICTIM" -f 'scribble_*'
tell split '^split' >/dev/null
[ "$(grep -c inject-session "/proc/$VICTIM/maps")" -ge 3 ] || die "not split"
status 0 "$INJECT" stop -p "$VICTIM"
removed
status 0 "$INJECT" -p "$VICTIM" -f 'scribble_*' -d 0.1 -o /dev/null
removed

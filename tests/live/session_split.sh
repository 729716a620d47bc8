#!/bin/bash
# SPDX-License-Identifier: MIT
# session_split: the kernel shows the session as several mappings, since the program has called
# madvise for a part. It is one session still, for stop, which gives back what its rings took,
# and for the next visit.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# KiB of the session that are memory. (What inject status has read of it meanwhile, which another
# test may run, is clean.)
taken() { awk '/^[0-9a-f]+-/ { is = /inject-session/ } is && /_Dirty:/ && !/Pss/ { n += $2 } END { print n }' "/proc/$VICTIM/smaps"; }

has_taken() { [ "$(taken)" -gt 1024 ]; }

victim scribbler
status 0 "$INJECT" start -p "$VICTIM" -f 'scribble_*'
tell split '^split' >/dev/null
[ "$(grep -c inject-session "/proc/$VICTIM/maps")" -ge 3 ] || die "not split"
wait_until 30 has_taken || die "nothing is recorded"
before=$(taken)
status 0 "$INJECT" stop -p "$VICTIM"
removed
echo "KiB: $before recording, $(taken) after"
[ "$(id -u)" != 0 ] || [ "$(taken)" -lt 512 ] || die "the rings keep their memory"
status 0 "$INJECT" -p "$VICTIM" -f 'scribble_*' -d 0.1 -o /dev/null
removed

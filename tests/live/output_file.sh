#!/bin/bash
# SPDX-License-Identifier: MIT
# output_file: -o writes a file, and follows no link that another user has put in its place;
# nothing has been done to the target then.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim sleeper 4
status 0 "$INJECT" -p "$VICTIM" -f 'sleeper_*' -d 0.3 -o calls.out
removed
[ -s trace.out ] && die "results on standard output too"
grep -q 'sleeper_' calls.out || die "nothing in the file"
status 0 "$INJECT" -p "$VICTIM" -f 'sleeper_*' -d 0.3 -o -
removed
grep -q 'sleeper_' trace.out || die "nothing on standard output"
[ ! -e - ] || die "-o - has made a file"

echo precious >precious
ln -s precious link
status 1 "$INJECT" -p "$VICTIM" -f 'sleeper_*' -d 0.3 -o link
refused link
[ "$(cat precious)" = precious ] || die "wrote through the link"
grep -q memfd: "/proc/$VICTIM/maps" || die "the first visit has left nothing?"
status 1 "$INJECT" -p "$VICTIM" -f 'sleeper_*' -d 0.3 -o no/such/directory
unharmed

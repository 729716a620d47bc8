#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_single: a process of one thread stays one, in the eyes of its libc too. A signal that
# it blocks while it is pending, and a fault would have, is named where it is not borrowed.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/cycles_lib.sh
. "$ROOT/tests/cycles_lib.sh"

is_single() { [ "$(tell threads '^threads')" = "threads 1 single 1" ]; }

victim single
is_single || die "it never was one"
for _ in 1 2 3; do
	status 0 "$INJECT" -p "$VICTIM" -f 'single_*' -d 0.2
	traced single_inner
	removed
done
is_single || die "visits have made a second thread"
tell hold '^held' >/dev/null
status 1 "$INJECT" -p "$VICTIM" -f 'single_*' -d 0.2
refused 'stands in a safe place, for each blocks SIGTRAP'
unharmed
tell let '^let' >/dev/null
status 0 "$INJECT" -p "$VICTIM" -f 'single_*' -d 0.2
removed
tell quit '^bye' >/dev/null
rm victim.in
loads 10 'single_*' single is_single

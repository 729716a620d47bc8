#!/bin/bash
# SPDX-License-Identifier: MIT
# own_answers: threads that no stop ends the wait of, but another thread of the same process, are
# stopped before that one, so that probes come in and go.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
victim own_answers
! has_line '^absent' victim.out || skip "$(cat victim.out)"
for _ in 1 2 3 4 5 6; do
	inject_bg -p "$VICTIM" -f 'open_answered' -f answer -o /dev/null
	sleep 0.3
	inject_end
	removed
done
unharmed

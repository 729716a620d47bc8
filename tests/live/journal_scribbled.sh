#!/bin/bash
# SPDX-License-Identifier: MIT
# journal_scribbled: the target spoils the journal while it is traced. Inject
# remembers by itself what it has written, and takes all of it out.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

for seed in 1 2 3 4 5 6; do
	victim scribbler
	inject_bg -p "$VICTIM" -f 'scribble_*' -o /dev/null
	tell "scribble $seed" '^scribbled' >/dev/null
	inject_end
	removed
	victim_quit
done

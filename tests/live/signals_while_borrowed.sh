#!/bin/bash
# SPDX-License-Identifier: MIT
# signals_while_borrowed: signals that come while the only thread runs a remote
# call arrive afterwards: each once, with its number and its sender; also those
# that cannot be blocked meanwhile, because a fault would be one of them.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

arrived() { tell signals '^signals ' | cut -d' ' -f2; }

more_arrived() { [ "$(arrived)" -gt $((before + 10)) ]; }

for _ in 1 2 3 4 5; do
	victim signalled
	status 0 "$INJECT" -p "$VICTIM" -f 'signalled_*' -d 0.1 -o /dev/null
	# None of any kind is missing: else its sender would wait for ever.
	before=$(arrived)
	wait_until 20 more_arrived || die "signals do not arrive any more"
	removed
	victim_quit
done

#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_runnable: 400 threads want to run all the time, on a few processors, and each of
# them stops when its turn comes. For 10 s visits come to their end, in stops that are
# about as long as is allowed; where that is too short nothing is left.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

most() { sed -n 's/.* stood still for \([0-9]*\)\..*/\1/p' trace.err | sort -n | tail -n 1; }

AS=(nice -n 14)		# besides what lib.sh takes: others have tests to run
victim spin_threads "$(fewer 400 60)"
begin=$SECONDS
while [ $((SECONDS - begin)) -lt 10 ]; do
	status 0 "$INJECT" count -v -p "$VICTIM" -f 'spin_*' -d 1 \
		--max-pause $((500 * ${PATIENCE:-1}))ms
	removed
	echo "longest stop: $(most) ms"
	[ "$(most)" -lt $((1000 * ${PATIENCE:-1})) ] || die "they stood still for $(most) ms"
done
status 1 "$INJECT" count -p "$VICTIM" -f 'spin_*' -d 1 --max-pause 10us
refused 'allow more with --max-pause'
unharmed
victim_quit

#!/bin/bash
# SPDX-License-Identifier: MIT
# addressed: a signal that the process ignores wakes no thread while another is lent or stopped.
# Such signals come a thousand a second: that a child has ended, to the thread that made it, be it
# the main thread, another, or several that make one now and then; and that a window has another
# size, to the main thread.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

for kind in main thread some sent; do
	victim addressed $kind
	for _ in $(seq "$(fewer 20 6)"); do
		status 0 "$INJECT" -p "$VICTIM" -f addressed_round -d 0.1 -o /dev/null \
			--max-pause $((500 * ${PATIENCE:-1}))ms
		has_line 'all probes removed, text verified' trace.err || die "not removed"
	done
	said=$(tell ended '^ended')
	echo "$kind: $said"
	[ "${said#* signals }" -gt 0 ] || die "$kind: no signal has come"
	[ "${said%% signals*}" = "ended 0" ] || die "$kind: a call ended"
	victim_quit
done

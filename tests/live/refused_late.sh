#!/bin/bash
# SPDX-License-Identifier: MIT
# refused_late: where there are too many threads to be stopped in time the attach is refused, and no
# call of those that were asked to stop, or stopped, ends with EINTR.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

refused=0
victim pollers 300
for pause in 300us 1ms 2ms 3ms 5ms; do
	for _ in 1 2; do
		code=0
		"$INJECT" -p "$VICTIM" -f 'poller_*' -d 0.1 -o /dev/null \
			--max-pause $pause 2>trace.err || code=$?
		[ $code -le 1 ] || die "status $code"
		[ $code = 0 ] || has_line 'more with --max-pause' trace.err ||
			die "does not say why"
		refused=$((refused + code))
		said=$(tell ended '^ended')
		[ "$said" = "ended 0" ] || die "with $pause: $said"
	done
done
[ $refused -gt 0 ] || die "no attach was refused"
status 0 "$INJECT" -p "$VICTIM" -f 'poller_*' -d 0.1 -o /dev/null \
	--max-pause $((500 * ${PATIENCE:-1}))ms
clean

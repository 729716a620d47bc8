#!/bin/bash
# SPDX-License-Identifier: MIT
# stop_packed: puns of a killed injector are taken out by stop, in a child too,
# and a later visit uses the islands of the first.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the functions are x86-64 code"

mappings() { wc -l <"/proc/$VICTIM/maps"; }

victim packed 3
inject_bg -p "$VICTIM" -f 'pack_*' -f 'busy_*' -o /dev/null
for round in 1 2 3; do
	kill -KILL "$TRACER"
	wait "$TRACER" || true
	victim_works
	"$TEXTCHECK" -t "$VICTIM" >textcheck.out && die "the probes were not in"
	status 0 "$INJECT" stop -p "$VICTIM"
	unharmed
	# Fewer, and all again: the first time these may need islands of their own.
	[ $round != 2 ] || before=$(mappings)
	status 0 "$INJECT" -p "$VICTIM" -f 'busy_[1-3]' -d 0.1 -o /dev/null
	removed
	inject_bg -p "$VICTIM" -f 'pack_*' -f 'busy_*' -o /dev/null
done
inject_end
removed
[ "$(mappings)" = "$before" ] || die "$before mappings have become $(mappings)"

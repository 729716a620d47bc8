#!/bin/bash
# SPDX-License-Identifier: MIT
# faults_by_place: a program whose handler decides by the place of a fault sees each
# fault where it has made it, while its functions are probed: behind what may fault in
# the bytes of a jump, or not at all where there is nothing else. A program without
# handlers, or whose handlers are called once, to write a last word, has all of them
# probed at their start. Nor is a later visit in the way of stop that records an entry
# where an earlier one has had an exit.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# all WITH: how many are probed at their start. (One that divides is x86-64's alone: by 0 it
# is no fault elsewhere.)
n=6
[ "$(uname -m)" = x86_64 ] || n=5
all() { has_line "$n of $n functions probed, $n with exits" trace.err || die "$1"; }

victim fault_places
inject_until place_entry -p "$VICTIM" -f 'place_*'
all "not all without a handler"
removed

tell crash '^handling$' >/dev/null
inject_until place_entry -p "$VICTIM" -f 'place_*'
all "not all with a last word"
removed

tell handle '^handling$' >/dev/null
inject_until place_exit -p "$VICTIM" -f 'place_*'
# On arm64 what leads elsewhere reaches no memory itself: so each function has a place behind its
# loads, that one, too.
if [ $n = 6 ]; then
	has_line 'refused place_method: an instruction in the way may fault' trace.err ||
		die "is not refused"
	has_line '5 of 6 functions probed, 5 with exits' trace.err || die "not all that may be"
	traced place_divide
else
	all "not all with a handler"
	traced place_method
fi
traced place_entry
# Paired, though something was on the stack when it was recorded.
traced '} /\* place_pushed \*/'
[ "$(grep -c 'place_pushed: began before' trace.out)" -le 1 ] || die "place_pushed is not paired"
traced place_plain
removed
[ $n = 6 ] || exit 0
"$INJECT" list -p "$VICTIM" -f place_method | grep -q 'may-fault$' || die "list does not say so"

status 0 "$INJECT" -p "$VICTIM" -f late_zero -d 0.02 -o /dev/null
status 0 "$INJECT" start -p "$VICTIM" -f late_zero -f late_taker
status 0 "$INJECT" stop -p "$VICTIM"

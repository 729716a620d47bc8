#!/bin/bash
# SPDX-License-Identifier: MIT
# remove_on_duration: -d ends it, in every unit; -n ends it after N calls. Too long would
# be a thousand times as long, and `status` gives up before.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 2
for d in 0.2 200ms 200000us; do
	start=$EPOCHREALTIME
	status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -d $d -o /dev/null
	took=$(((${EPOCHREALTIME/./} - ${start/./}) / 1000))
	[ $took -ge 190 ] || die "-d $d took $took ms"
	removed
done
status 0 timeout 60 "$INJECT" -p "$VICTIM" -f 'spin_*' -n 100
removed

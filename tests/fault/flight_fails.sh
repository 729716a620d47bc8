#!/bin/bash
# SPDX-License-Identifier: MIT
# flight_fails: the 1st, 2nd, 3rd ... system call of inject start, and of the verbs
# that change or read what it has left, fails, or it is killed before it. The process
# goes on, and inject stop leaves nothing.
# timeout: 1800
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

need_root
# With a file: one directory for each point, so not by a sweep.
need_room 150 /dev/shm
DIR=$(mktemp -d /dev/shm/flight.XXXXXX)
tidy() { rm -rf "$DIR"; }
victim spin_threads 2
[ -n "${SOAK:-}" ] && step=7 || step=300
for n in $(seq 100 "$step" 900); do
	timeout $((60 * ${PATIENCE:-1})) "$BUILD/tests/fault/failer" -n "$n" -k -- \
		"$INJECT" start -p "$VICTIM" -f 'spin_*' -m 128K -o "$DIR/$n" >trace.out 2>trace.err || true
	victim_works
	status 0 "$INJECT" stop -p "$VICTIM"
	unharmed
	rm -rf "${DIR:?}/$n"
done
victim_quit

sweep 480 fail fresh spin_threads,2 start -p @ -f 'spin_*'
sweep 480 kill fresh spin_threads,2 start -p @ -f 'spin_*'
sweep 400 fail started spin_threads,2 add -p @ -f 'spin_*'
sweep 400 kill started spin_threads,2 add -p @ -f 'spin_*'
sweep 400 kill started spin_threads,2 remove -p @ -f 'spin_*'
[ -n "${SOAK:-}" ] || exit 0
sweep 1 fail started spin_threads,2 remove -p @ -f 'spin_*'
sweep 1 fail started spin_threads,2 snapshot -p @ -q -o shot
sweep 1 kill started spin_threads,2 snapshot -p @ -q -o shot

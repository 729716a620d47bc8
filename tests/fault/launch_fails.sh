#!/bin/bash
# SPDX-License-Identifier: MIT
# launch_fails: the 1st, 2nd, 3rd ... system call of an inject that starts a
# command fails, or it is killed before it. The command begins and comes to its
# end, with its own status, or it does not begin and the status says so.
# timeout: 1200
# long: 40
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

for how in fail kill; do
	[ $how = kill ] && STRIDE=7 || STRIDE=11
	[ -z "${SOAK:-}" ] && STRIDE=$((STRIDE * ${WIDER:-1})) || STRIDE=1
	export STRIDE
	"$BUILD/tests/fault/launch" $how "$INJECT" "$VICTIMS/command" >$how.out 2>&1 || {
		tail -n 40 $how.out
		die "$how: harm was done"
	}
	tail -n 1 $how.out
done

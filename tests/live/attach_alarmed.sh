#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_alarmed: the processor time that its only thread spends for us sets off the timer of
# a process that sleeps, and would have slept on: each sleep of ten seconds takes that long.
# (A tick that comes while the thread goes on after a stop is not covered, so it is counted:
# of twenty sleeps one is interrupted where much else runs. Without the rule it is thirteen.)
# long: 15
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(</proc/sys/vm/max_map_count)" -ge 30000 ] || skip "vm.max_map_count leaves less room"
MOST=6 pids=()

# One for each, for a later visit finds its pages mapped.
for i in {1..5}; do
	for kind in prof process; do
		for call in nanosleep epoll_wait; do
			"$VICTIMS/alarmed" $kind $call >"alarmed.$kind.$call.$i" 9>&- &
			started $!
			pids+=($!)
			wait_until 30 has_line ready "alarmed.$kind.$call.$i"
		done
	done
done
for pid in "${pids[@]}"; do
	status 0 "$INJECT" -p "$pid" -f 'far_*' -d 0.01 -o /dev/null --max-pause 10s
	has_line ': 1024 of 1024 functions probed' trace.err || die "not all are probed"
	has_line 'text verified$' trace.err || die "not removed"
	status 0 "$INJECT" -p "$pid" -f far_1 -d 0.01 -o /dev/null
	clean "$pid"
done
slept() { [ "$(cat alarmed.* | grep -c slept)" -ge $((${#pids[@]} - MOST)) ]; }
wait_until 30 slept || die "they do not sleep on"
n=$(cat alarmed.* | grep -c interrupted || true)
echo "${#pids[@]} sleeps, $n interrupted"
[ "$n" -le $MOST ] || die "$n of ${#pids[@]} sleeps were interrupted"

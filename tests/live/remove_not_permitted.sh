#!/bin/bash
# SPDX-License-Identifier: MIT
# remove_not_permitted: a user traces a process of the same user, which then forbids it. The
# user is told that probes remain, and of those that were to be disarmed, that they were not;
# root's `stop` removes them.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

as_nobody changer
victim changer
INJECT_ROOT=$INJECT
INJECT=${AS[0]}
inject_bg "${AS[@]:1}" "$VICTIMS/inject" -p "$VICTIM" -f 'change_*' -o /dev/null \
	--max-overhead 10
tell undump '^done undump' >/dev/null
tell hurry '^done hurry' >/dev/null
wait_until 60 has_line 'could not disarm change_inner' trace.err ||
	die "not said that it cannot be disarmed"
WANT=5 inject_end
has_line disarmed trace.err && die "said that something was disarmed"
has_line 'PROBES REMAIN' trace.err || die "not said that probes remain"
victim_works
status 0 "$INJECT_ROOT" stop -p "$VICTIM"
unharmed

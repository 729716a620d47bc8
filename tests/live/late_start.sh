#!/bin/bash
# SPDX-License-Identifier: MIT
# late_start: a static program that was just executed, and has not come so far yet that
# its C library keeps anything of its thread, is waited for and not refused.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

mkfifo victim.in
"$VICTIMS/late_start" <victim.in >victim.out 2>victim.err 9>&- &
VICTIM=$!
started "$VICTIM"
exec 9>victim.in
waits()
{
	[[ $(readlink "/proc/$VICTIM/exe") = */late_start &&
		$(cat "/proc/$VICTIM/syscall") = "${CALL[read]} "* ]]
}
wait_until 30 waits || die "it does not wait"

: >trace.err
"$INJECT" -v -p "$VICTIM" -f 'late_*' -o /dev/null 2>trace.err 9>&- &
TRACER=$!
started "$TRACER"
wait_until 60 has_line 'lent a thread' trace.err || die "not looked at: $(cat trace.err)"
echo >&9
wait_until 60 attached || die "inject did not attach"
has_line '1 of 1 function' trace.err || die "$(cat trace.err)"
wait_until 30 has_line '^ready$' victim.out || die "the victim is not ready"
gets_on 10
inject_end
removed
[ "$(closing calls)" -gt 0 ] || die "no calls"
victim_quit

#!/bin/bash
# SPDX-License-Identifier: MIT
# stop_after_kill9: the injector is killed while it traces. The target runs on
# with its probes; inject stop removes them, also in a child forked meanwhile. One
# that was killed and has not ended yet is waited for.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim spin_threads 2
inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null
kill -KILL "$TRACER"
wait "$TRACER" || true
victim_works
"$TEXTCHECK" -t "$VICTIM" >textcheck.out && die "the probes were not in"
status 0 "$INJECT" stop -p "$VICTIM"
unharmed
# Safe to repeat, and a new trace works.
status 0 "$INJECT" stop -p "$VICTIM"
unharmed
status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -d 0.2
removed

# linger holds inject right before its end, with all that it has open.
inject_bg -p "$VICTIM" -f 'spin_*' -o /dev/null
mkfifo end
"$BUILD/tests/tools/linger" "$TRACER" <end >linger.out 9>&- &
started $!
exec 8>end
wait_until 30 has_line ready linger.out || die "inject cannot be held"
kill -KILL "$TRACER"
"$INJECT" stop -p "$VICTIM" 2>trace.err 8>&- 9>&- &
stopper=$!
started "$stopper"
# By its number that is clock_nanosleep.
waits()
{
	[ "$(cut -d' ' -f1 "/proc/$stopper/syscall" 2>/dev/null)" = "${CALL[clock_nanosleep]}" ]
}
until waits; do
	kill -0 "$stopper" 2>/dev/null || break
done
exec 8>&-
wait "$stopper" || die "an inject that was killed is not waited for"
wait "$TRACER" || true
unharmed
victim_quit

victim forker
inject_bg -p "$VICTIM" -f 'fork_*' -o /dev/null
child=$(tell fork '^child' | cut -d' ' -f2)
kill -KILL "$TRACER"
wait "$TRACER" || true
child2=$(tell fork '^child' | cut -d' ' -f2)
status 0 "$INJECT" stop -p "$VICTIM"
unharmed
# The children's own text: cleaned with the parent, or by their own stop.
for c in "$child" "$child2"; do
	status 0 "$INJECT" stop -p "$c"
	clean "$c"
done
tell reap '^reaped 2'

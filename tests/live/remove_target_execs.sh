#!/bin/bash
# SPDX-License-Identifier: MIT
# remove_target_execs: the target has executed another program, or ended, when
# inject comes to remove the probes: status 4, and the closing line says which.
# It claims no removal and no comparison that did not take place. A child that
# was forked before keeps its copy of the old code, and is cleaned.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# INT comes first, so that it is the reason to stop.
end_asleep()
{
	kill -INT "$TRACER"
	kill -CONT "$TRACER"
	WANT=4 inject_wait
	! has_line 'removed, text' trace.err || die "claims to have removed"
}

inject_held()
{
	inject_bg -p "$VICTIM" -f "$1" -o /dev/null
	kill -STOP "$TRACER"
}

victim execer
inject_held 'exec_*'
child=$(tell fork '^child' | cut -d' ' -f2)
"$TEXTCHECK" -t "$child" >textcheck.out && die "the child has no probes"
tell exec '^ready$' >/dev/null
end_asleep
has_line 'the target executes another program' trace.err || die "does not say what happened"
unharmed
clean "$child"
kill -KILL "$child"
victim_quit

victim spin_threads 2
inject_held 'spin_*'
kill -KILL "$VICTIM"
wait "$VICTIM" || true
end_asleep
has_line 'the target has ended' trace.err || die "does not say that it has ended"
VICTIM=

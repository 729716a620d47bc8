#!/bin/bash
# SPDX-License-Identifier: MIT
# leader_ends: the main thread ends while the process is traced: tracing goes
# on, and all is removed; also by `stop`, when inject was killed. A process
# that has no main thread any more is refused.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

lines() { wc -l <trace.out; }
more_lines() { [ "$(lines)" -gt "$1" ]; }

leave()
{
	rm -f victim.in
	victim leaderless
	inject_bg -p "$VICTIM" -f 'orphan_*'
	tid=$(tell leave '^left' | cut -d' ' -f2)
	wait_until 30 more_lines $(($(lines) + 20)) || die "nothing more is recorded"
}

leave
inject_end
has_line 'all probes removed, text verified' trace.err || die "not removed"
victim_works
clean "$tid"
status 1 "$INJECT" -p "$VICTIM" -f 'orphan_*'
refused 'main thread has ended'
victim_works

leave
kill -KILL "$TRACER"
wait "$TRACER" || true
status 0 "$INJECT" stop -p "$VICTIM"
victim_works
clean "$tid"
status 0 "$INJECT" stop -p "$VICTIM"

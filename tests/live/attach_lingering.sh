#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_lingering: a thread is interrupted in a stub, or in what it calls, and
# goes on from there when a later trace wants to jump from elsewhere in the
# function than the one that made the stub: from where the stub leads to.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the functions are x86-64 code"

# linger WHERE: while a trace of entries only has probes there.
linger()
{
	inject_bg -p "$VICTIM" -f linger --entry-only -o /dev/null
	tell "$1" "^ok ${1%% *}" >/dev/null
	inject_end
	clean
}

go()
{
	tell go '^ok go' >/dev/null
	inject_end
	removed
}

victim lingerer
for where in read 'step 64' 'step 160'; do
	# The others are probed, this one is not; alone it cannot be.
	linger "$where"
	inject_bg -p "$VICTIM" -f 'linger*' -o /dev/null --max-pause 2s
	has_line ': 2 of 3 functions probed, 2 with exits' trace.err || die "not the others"
	has_line 'refused linger: a thread could not be moved' trace.err || die "not refused"
	go
	linger "$where"
	status 3 "$INJECT" -p "$VICTIM" -f linger -d 0.1 -o /dev/null --max-pause 2s
	has_line 'refused linger: a thread could not be moved' trace.err || die "not the reason"
	clean
	# The same jumps as before do no harm.
	inject_bg -p "$VICTIM" -f linger --entry-only -o /dev/null
	go
	inject_bg -p "$VICTIM" -f 'linger*' -o /dev/null
	has_line ': 3 of 3 functions probed, 3 with exits' trace.err || die "not all are probed"
	inject_end
	removed
done

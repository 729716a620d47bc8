#!/bin/bash
# SPDX-License-Identifier: MIT
# loan_astray: a thread that maps pages for islands cannot be fetched, for it is frozen.
# The visit fails, and takes nothing back that the thread runs by; when it thaws, it
# goes home, and the next visit knows the pages that it has mapped.
# timeout: 600
# long: 15
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "the functions are x86-64 code"
need_root
GROUP=/sys/fs/cgroup/freezer/inject-astray-$$
mkdir "$GROUP" 2>/dev/null || skip "no freezer of threads"
tidy() { echo THAWED >"$GROUP/freezer.state" && wait_until 30 rmdir "$GROUP"; }

# Is the thread frozen within the loan? Else it is at home, and the visit goes on.
astray()
{
	victim astray "$GROUP"
	"$INJECT" -p "$VICTIM" -f 'far_*' -d 0.01 -o /dev/null --max-pause 0.5s \
		2>trace.err 9>&- || true
	has_line 'inject: a remote call in thread' trace.err
}

n=0
until astray; do
	victim_quit
	[ $((n += 1)) -lt 20 ] || die "it is never frozen in time"
done
wait_until 30 has_line THAWED "$GROUP/freezer.state"
victim_works
status 0 "$INJECT" -p "$VICTIM" -f 'far_*' -d 0.01 -o /dev/null --max-pause 10s
has_line ': 1024 of 1024 functions probed' trace.err || die "places were lost"
removed
victim_quit

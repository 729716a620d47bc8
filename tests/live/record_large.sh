#!/bin/bash
# SPDX-License-Identifier: MIT
# record_large: what reads a directory takes no more memory for a large one: of 50 MB,
# and with SOAK=1 of 10 GB, in 30 MB of address space.
# timeout: 360
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

bytes=50000000
if [ -n "${SOAK:-}" ]; then
	bytes=10000000000
	[ "$(df --output=avail -B1 . | tail -n 1)" -gt $((bytes + bytes / 4)) ] ||
		skip "no room for $bytes bytes here"
fi
tidy() { rm -rf large; }

if ldd "$INJECT" | grep -qE 'lib(a|ub|t)san'; then
	skip "sanitizers take terabytes of addresses"
fi
victim spin_threads 3
inject_bg record -p "$VICTIM" -f 'count_*' -o small --max-size 8M
tell count '^ok count' >/dev/null
wait "$TRACER" || die "inject ended with status $?"
tell end '^counted' >/dev/null
removed
"$BUILD/tests/tools/repeat" small large "$bytes" >repeat.out || die "$(cat repeat.out)"
[ "$(cat large/stream_* | wc -c)" -ge "$bytes" ] || die "it is not large"

small_memory()
{
	(ulimit -v 30000; exec "$INJECT" "$@" large >out 2>err) || die "$1: $(head -n 2 err)"
	[ -s out ] || die "$1 says nothing"
}

small_memory info
small_memory report
small_memory graph
small_memory replay -n 1000
small_memory export --to folded
small_memory export --to chrome -n 1000

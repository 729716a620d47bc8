#!/bin/bash
# SPDX-License-Identifier: MIT
# go_http: a server in Go under load, which takes a profile of itself, with every function
# probed again and again: no request fails; with C, without, and stripped. (SOAK=1: a
# hundred visits each.)
# timeout: 1800
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ -x "$VICTIMS/go_http" ] || skip "no Go compiler here"

# worked_on N: so many requests later.
worked_on()
{
	local now

	now=$(progress) && [ "$now" -gt $((since + $1)) ]
}

visits=3
[ -n "${SOAK:-}" ] && visits=100
for kind in go_http go_http_static go_http_stripped; do
	victim $kind
	tell profile '^profiling$' >/dev/null
	for _ in $(seq $visits); do
		inject_bg -p "$VICTIM" -f '*' -o /dev/null
		since=$(progress)
		wait_until 30 worked_on 50 || die "no requests are answered"
		inject_end
		removed
	done
	status 0 "$INJECT" -p "$VICTIM" -f 'main.*' -f 'net/http.*' -d 0.5
	traced 'main.answer'
	traced 'net/http.serverHandler.ServeHTTP'
	removed
	victim_quit
done

#!/bin/bash
# SPDX-License-Identifier: MIT
# rust_http: a server in Rust under load, with every function of its own, of Rust's
# standard library and of the C library probed again and again: no request fails, some
# of which panic. (With SOAK a hundred visits each.)
# timeout: 1200
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ -x "$VICTIMS/rust_http" ] || skip "no Rust compiler here"

# worked_on N: so many requests later.
worked_on()
{
	local now

	now=$(progress) && [ "$now" -gt $((since + $1)) ]
}

# visit PATTERN...: while 50 requests are answered.
visit()
{
	local words=() p

	for p; do words+=(-f "$p"); done
	inject_bg -p "$VICTIM" "${words[@]}" -o /dev/null
	since=$(progress)
	wait_until 60 worked_on 50 || die "no requests are answered"
	inject_end
	removed
}

visits=1
[ -z "${SOAK:-}" ] || visits=33
for kind in http debug dynamic abort; do
	victim rust_$kind
	for _ in $(seq $visits); do
		visit '*'
		visit '*@libc.so*' '*@ld-linux*' '*@libgcc*'
		visit '*' '*@*'
	done
	status 0 "$INJECT" -p "$VICTIM" -f 'rust_http::*' -n 2000
	traced 'rust_http::serve()'
	traced 'rust_http::descend()'
	removed
	victim_quit
done

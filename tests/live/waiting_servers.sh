#!/bin/bash
# SPDX-License-Identifier: MIT
# waiting_servers: servers in Rust and Go that wait for requests, in calls that were entered while
# all their functions and the C library's were probed, and are left as they are.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/waiting_lib.sh
. "$ROOT/tests/waiting_lib.sh"

answers() { [ "$(progress)" -gt "$1" ]; }

# server NAME: all of its threads wait in calls of its standard library's, or its
# goroutines, of which no thread has the stack then.
server()
{
	[ -x "$VICTIMS/$1" ] || { echo "no $1 here"; return 0; }
	victim "$1"
	code_mappings >before
	tell hold '^held$' >/dev/null
	wait_until 60 all_sleep || die "threads do not wait"
	# They wait for the whole of a visit,
	inject_bg -p "$VICTIM" -f '*' -f '*@*' -o /dev/null
	inject_end
	probes_gone || die "the probes are not removed while all wait"
	clean
	# and then come out of it in one, and wait again at its end.
	inject_bg -p "$VICTIM" -f '*' -f '*@*' --json -o calls.json
	tell go '^going$' >/dev/null
	wait_until 60 answers $(($(progress) + 50)) || die "no requests are answered"
	tell hold '^held$' >/dev/null
	wait_until 60 all_sleep || die "threads do not wait"
	inject_end
	clean
	has_waited "$2"
	forbid_ours
	tell go '^going$' >/dev/null
	wait_until 60 answers $(($(progress) + 50)) || die "no requests are answered any more"
	victim_works
	victim_quit
}

# has_waited FUNCTION: in calls of it when probes came, and when they went.
has_waited()
{
	local call="\"func\":\"$1\",\"module\":\"[^\"]*\""

	grep -q "$call,\"began_before\":true" calls.json || die "no $1 began before"
	grep -qE "\"end\":\"open\",.*$call(,\"seen_ns\":[0-9]+)?}" calls.json || die "no $1 is left open"
}

server rust_http '[^"]*'
server go_http_static 'runtime.gopark'
server go_http 'runtime.gopark'

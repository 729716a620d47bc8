#!/bin/bash
# SPDX-License-Identifier: MIT
# visits_grow: after a visit that took little memory, of any kind, one comes that wants
# much: every function of redis and its libraries. Also where the first was killed, and
# without another visit: add.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/real_lib.sh
. "$ROOT/tests/real_lib.sh"

need redis-server redis-cli python3

server_ends()
{
	[ "$(redis-cli -p "$port" incr answer)" = 1 ] || die "redis does not answer"
	clean "$server"
	redis_ends
}

# all VERB: now all functions, and they are gone afterwards.
all()
{
	status 0 "$INJECT" "$1" -p "$server" -f '*' --max-pause 2s
	"$TEXTCHECK" -t "$server" >textcheck.out && die "no probes are in"
	status 0 "$INJECT" stop -p "$server" --max-pause 2s
	clean "$server"
}

redis_begin
status 0 "$INJECT" count -p "$server" -f processCommand -d 0.1
inject_bg -p "$server" -f processCommand -o /dev/null
kill -KILL "$TRACER"
wait "$TRACER" || true
status 0 "$INJECT" stop -p "$server"
all start
server_ends

redis_begin
status 0 "$INJECT" start -p "$server" -f processCommand -o kept
status 0 "$INJECT" stop -p "$server"
all start
server_ends

redis_begin
status 0 "$INJECT" start -p "$server" -f processCommand
all add
server_ends

#!/bin/bash
# SPDX-License-Identifier: MIT
# real_redis: Debian's redis-server under redis-benchmark: a pattern, then '*'.
# serial: it measures calls per second
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/real_lib.sh
. "$ROOT/tests/real_lib.sh"

need redis-server redis-benchmark redis-cli python3
port=$(free_port)
redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no \
	--daemonize no --dir "$PWD" >redis.err 2>&1 &
server=$!
started "$server"
wait_until 30 listens "$port" || die "redis does not listen"

for args in "-f *Command" "-f *" "-f * -f *@*"; do
	load redis-benchmark -p "$port" -t set,get,incr,lpush,hset -n 20000 -q
	set -f
	# shellcheck disable=SC2086
	trace_real "$server" 100000 $args -o /dev/null
	set +f
	load_ended 'error|refused'
	# Answers are right, not only quick.
	[ "$(redis-cli -p "$port" set answer 42)" = OK ]
	[ "$(redis-cli -p "$port" get answer)" = 42 ]
done
redis-cli -p "$port" shutdown nosave || true
wait "$server" || die "redis ended with status $?"

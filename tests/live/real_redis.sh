#!/bin/bash
# SPDX-License-Identifier: MIT
# real_redis: Debian's redis-server under redis-benchmark: a pattern, then '*'.
# serial: it measures calls per second
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/real_lib.sh
. "$ROOT/tests/real_lib.sh"

need redis-server redis-benchmark redis-cli python3
redis_begin

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
redis_ends

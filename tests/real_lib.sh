# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# real_lib: what the tests with Debian's own servers share. Sourced after
# lib.sh. Each test starts a server of its own, in its own directory, on a port
# of its own, and loads it with that server's own client.

# A port on which no process listens now.
free_port()
{
	python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# load COMMAND...: in the background, over and over until load_ended, for it is not known how
# long an attach takes on a busy machine; its output in load.out.
load()
{
	: >loading
	while [ -e loading ]; do "$@" || exit; done >load.out 2>&1 &
	LOAD=$!
	started "$LOAD"
}

# The load has ended well: status 0 and no line that tells of an error.
load_ended()
{
	rm loading
	wait "$LOAD" || { cat load.out; die "the client failed"; }
	if grep -niE "${1:-error|failed|timeout|refused|reset}" load.out; then
		die "the client saw an error"
	fi
}

# trace_real PID CALLS ARG...: trace that many calls under load; text as before. How long
# the stop takes is not the question here (live/max_pause): PostgreSQL's 146,718 places take
# 40 ms of a slow machine, and more while it forks all the time.
trace_real()
{
	local pid=$1 want=$2 calls

	shift 2
	LIMIT=150 status 0 "$INJECT" -p "$pid" "$@" -n "$want" \
		--max-pause $((500 * ${PATIENCE:-1}))ms
	has_line 'all probes removed, text verified' trace.err || die "not removed"
	clean "$pid"
	calls=$(closing calls)
	echo "$*: $(closing functions) functions, $calls calls, $(closing lost) lost"
	[ "$calls" -ge "$want" ] || die "$calls calls only"
}

# redis_begin: a redis of our own, in this directory; its PID is in server, its port in
# port. redis_ends: it ends, and well.
redis_begin()
{
	port=$(free_port)
	redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no \
		--daemonize no --dir "$PWD" >redis.err 2>&1 &
	server=$!
	started "$server"
	wait_until 30 listens "$port" || die "redis does not listen"
}

redis_ends()
{
	redis-cli -p "$port" shutdown nosave || true
	wait "$server" || die "redis ended with status $?"
}

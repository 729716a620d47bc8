# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# real_lib: what the tests with Debian's own servers share. Sourced after
# lib.sh. Each test starts a server of its own, in its own directory, on a port
# of its own, and loads it for a few seconds with that server's own client.

# A port on which nobody listens now.
free_port()
{
	python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# load COMMAND...: in the background; its output in load.out.
load()
{
	"$@" >load.out 2>&1 &
	LOAD=$!
	STARTED+=("$LOAD")
	sleep 0.5
}

# The load has ended well: status 0 and no line that tells of an error.
load_ended()
{
	wait "$LOAD" || { cat load.out; die "the client failed"; }
	if grep -niE "${1:-error|failed|timeout|refused|reset}" load.out; then
		die "the client saw an error"
	fi
}

# trace_real PID LEAST ARG...: trace for two seconds under load; at least
# LEAST calls a second, text as before.
trace_real()
{
	local pid=$1 least=$2 calls

	shift 2
	status 0 "$INJECT" -p "$pid" "$@" -d 2
	has_line 'all probes removed, text verified' trace.err || die "not removed"
	clean "$pid"
	calls=$(closing calls)
	echo "$*: $(closing functions) functions, $calls calls in 2 s, $(closing lost) lost"
	[ "$calls" -ge $((2 * least)) ] || die "$calls calls only"
}

#!/bin/bash
# SPDX-License-Identifier: MIT
# latency [SERVER...]: how long do servers take to answer while probes come and go? Each is
# asked at a fixed rate, by one client, while slices of time in which inject visits it again
# and again take turns with slices in which it does not. The client goes before all others,
# where that is permitted: what measures is not to wait for what is measured, nor for inject.
# bench/latency.py judges the times: of visits one after the other, as they were; and of
# a visit each five seconds, which are the same answers among more without. A request that
# fails, or a visit, makes the whole fail; a time does not. It wants a quiet machine.
#
# SERVER: nginx, redis, memcached, postgres, python, node, java; all unless given.
# SECONDS_EACH (40): seconds for each server, in slices of SLICE (1); it takes some 15 more
# to start it and warm it up. RATE (1000): requests a second, half of that of a server in
# Python, Java or JavaScript.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "$0")/lib.sh"

SECONDS_EACH=${SECONDS_EACH:-40}
SLICE=${SLICE:-1}
RATE=${RATE:-1000}
WARM=4		# seconds
ASK_HTTP='GET / HTTP/1.1\r\nHost: bench\r\n\r\n'
FIRST=(chrt -f 1)
"${FIRST[@]}" true 2>/dev/null || FIRST=()
status=0

# serve COMMAND...: a server, until it listens at PORT. Its PID is PID.
serve()
{
	"$@" >"$dir/server.out" 2>&1 9>&- &
	PID=$!
	pids+=("$PID")
	for _ in $(seq 600); do
		(exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null && return
		kill -0 "$PID" 2>/dev/null || break
		sleep 0.1
	done
	cat "$dir/server.out" >&2
	return 1
}

served()
{
	kill "$PID" 2>/dev/null || true
	wait "$PID" 2>/dev/null || true
}

# slice KIND [OPTION...]: for SLICE seconds inject visits TARGET again and again (with), or
# nothing happens (without).
slice()
{
	local begin=$EPOCHREALTIME visitor=

	if [ "$1" = with ]; then
		: >"$dir/visiting"
		visits "${@:2}" &
		visitor=$!
		pids+=("$visitor")
	fi
	sleep "$SLICE"
	if [ -n "$visitor" ]; then
		rm -f "$dir/visiting"
		wait "$visitor"
	fi
	echo "$begin $EPOCHREALTIME $1" >>"$dir/slices"
	sleep 0.2
}

# visits OPTION...: one after the other, as long as that is wanted.
visits()
{
	local got who

	while [ -e "$dir/visiting" ]; do
		who=$($target)
		[ -n "$who" ] || { sleep 0.1; continue; }
		got=0
		"$BUILD/inject" -v -d 0.3 -o /dev/null "$@" -p "$who" 2>>"$dir/visits" || got=$?
		[ "$got" = 0 ] || echo "visit ended with status $got" >>"$dir/visits"
		sleep 0.2
	done
}

# asks NAME RATE GREETING FILE: until it is told to end.
asks()
{
	exec "${FIRST[@]}" "$dir/client" -r "$2" -s 3600 -g "$3" -o "$4" "$PORT" "${WHAT[@]}"
}

# measured NAME RATE GREETING TARGET OPTION...: the lines of one server. TARGET is a
# command that prints what is to be visited, the OPTIONs say what is probed.
measured()
{
	local name=$1 target=$4 client n failed

	: >"$dir/slices"
	: >"$dir/visits"
	asks "$1" "$2" "$3" "$dir/answers" >"$dir/client.out" 2>"$dir/client.err" &
	client=$!
	pids+=("$client")
	sleep "$WARM"
	slice without
	for _ in $(seq $((SECONDS_EACH / (2 * SLICE)))); do
		slice with "${@:5}"
		slice without
	done
	kill "$client" || true
	wait "$client" || true
	read -r n failed _ <"$dir/client.out" || failed=all
	if [ "${failed:-all}" != 0 ]; then
		echo "$name: $failed of $n requests failed" >&2
		cat "$dir/client.err" >&2
		status=1
	fi
	if grep -B1 'visit ended' "$dir/visits" >&2; then
		status=1
	fi
	python3 bench/latency.py "$name" "$dir"
}

pid() { echo "$PID"; }
child() { local c; read -r c _ <"/proc/$PID/task/$PID/children"; echo "$c"; }

# One of the processes that serve a connection, in turn.
backend()
{
	local p children

	read -r -a children <"/proc/$PID/task/$PID/children"
	for p in "${children[@]}"; do
		! grep -qz '^postgres: .*127\.0\.0\.1' "/proc/$p/cmdline" 2>/dev/null || echo "$p"
	done | shuf -n 1
}

absent() { printf '%-11s%9s  not installed\n' "$1" -; }

nginx_line()
{
	local nginx

	nginx=$(PATH=$PATH:/usr/sbin command -v nginx) || { absent nginx; return; }
	mkdir -p "$dir/nginx/logs" "$dir/nginx/html"
	{ head -c 2000 /dev/zero | tr '\0' x; echo answer; } >"$dir/nginx/html/index.html"
	cat >"$dir/nginx.conf" <<-CONF
		worker_processes 1;
		daemon off;
		$([ "$(id -u)" != 0 ] || echo 'user root;')
		pid $dir/nginx/pid;
		events { worker_connections 256; }
		http {
			access_log off;
			keepalive_requests 1000000000;
			client_body_temp_path $dir/nginx/t1; proxy_temp_path $dir/nginx/t2;
			fastcgi_temp_path $dir/nginx/t3; uwsgi_temp_path $dir/nginx/t4;
			scgi_temp_path $dir/nginx/t5;
			server { listen 127.0.0.1:$PORT; root $dir/nginx/html; }
		}
	CONF
	serve "$nginx" -p "$dir/nginx" -c "$dir/nginx.conf" -e "$dir/nginx/logs/error.log"
	WHAT=("$ASK_HTTP" 'HTTP/1.1 200' 'answer\n')
	measured nginx "$RATE" '' child -f 'ngx_http_*'
	served
}

redis_line()
{
	command -v redis-server >/dev/null || { absent redis; return; }
	serve redis-server --port "$PORT" --bind 127.0.0.1 --save '' --appendonly no --dir "$dir"
	WHAT=('SET key answer\r\n' '+OK' '\r\n')
	measured redis "$RATE" '' pid -f '*Command' -f 'call'
	served
}

memcached_line()
{
	local user=()

	command -v memcached >/dev/null || { absent memcached; return; }
	[ "$(id -u)" != 0 ] || user=(-u root)
	serve memcached -p "$PORT" -l 127.0.0.1 "${user[@]}"
	WHAT=('set key 0 0 6\r\nanswer\r\n' 'STORED' '\r\n')
	measured memcached "$RATE" '' pid -f '*@exe'
	served
}

as_postgres()
{
	if [ "$(id -u)" = 0 ]; then
		set -- setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
	fi
	"$@"
}

# Messages of its protocol: who comes, a query with its length, and "ready".
postgres_line()
{
	[ -n "$PG" ] || { absent PostgreSQL; return; }
	mkdir "$dir/pg"
	chmod 755 "$dir"
	[ "$(id -u)" != 0 ] || chown postgres "$dir/pg"
	as_postgres "$PG/initdb" -D "$dir/pg/data" -A trust -U postgres >"$dir/err" 2>&1
	serve as_postgres "$PG/postgres" -D "$dir/pg/data" -p "$PORT" -k "$dir/pg"
	PID=$(head -n 1 "$dir/pg/data/postmaster.pid")
	pids+=("$PID")
	local greet='\x00\x00\x00\x29\x00\x03\x00\x00user\x00postgres\x00database\x00postgres\x00\x00'
	# shellcheck disable=SC2016 # dollars of SQL
	WHAT=('Q\x00\x00\x00\x38select count(*) from pg_class where relname > $$a$$\x00' 'T' \
		'Z\x00\x00\x00\x05I')
	until "$dir/client" -r 1 -s 1 -c 1 -g "$greet" "$PORT" "${WHAT[@]}" >/dev/null 2>&1; do
		kill -0 "$PID"
		sleep 0.1
	done
	measured PostgreSQL "$RATE" "$greet" backend -f 'Exec*' -f 'exec_*'
	as_postgres "$PG/pg_ctl" -D "$dir/pg/data" -m immediate stop >/dev/null 2>&1 || true
}

python_line()
{
	serve python3 bench/servers/serve.py "$PORT"
	WHAT=("$ASK_HTTP" 'HTTP/1.1 200' 'answer\n')
	measured python3 $((RATE / 2)) '' pid -f 'PyObject_*' -f 'PyDict_*'
	served
}

node_line()
{
	command -v node >/dev/null || { absent node; return; }
	serve node bench/servers/serve.js "$PORT"
	WHAT=("$ASK_HTTP" 'HTTP/1.1 200' 'answer\n')
	WARM=8 measured node $((RATE / 2)) '' pid -f 'uv_*' -f 'deflate*' -f 'inflate*'
	served
}

java_line()
{
	command -v javac >/dev/null || { absent JVM; return; }
	javac -d "$dir" bench/servers/Serve.java 2>"$dir/err" || { absent JVM; return; }
	# Else each answer waits 40 ms: its end is held back until its head is acknowledged.
	serve java -Dsun.net.httpserver.nodelay=true -Xmx64m -cp "$dir" Serve "$PORT"
	WHAT=("$ASK_HTTP" 'HTTP/1.1 200' 'answer\n')
	WARM=10 measured JVM $((RATE / 2)) '' pid -f '*Thread*@libjvm.so' -f '*alloc*@libjvm.so'
	served
}

"$CC" -std=gnu11 -O2 -D_GNU_SOURCE -o "$dir/client" bench/client.c
cat <<HEAD
Times of answers at $RATE requests a second, and how many times as long they are while
inject comes and goes: outside of its stops, with the interval that the ratio is in with
95 %, and stops included (all). The last line is of the server without visits: what every
other second is to the others, which is noise.
                            p50     p99  95 %          all
HEAD
[ $# != 0 ] || set -- nginx redis memcached postgres python node java
for server; do
	PORT=$(free_port)
	"${server}_line"
done
[ $status != 0 ] || echo "No request has failed, and no visit."
exit $status

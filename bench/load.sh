#!/bin/bash
# SPDX-License-Identifier: MIT
# load: what does a server lose of its throughput while it is traced? Debian's redis and
# PostgreSQL, each of its own, with their own clients; not traced, with the functions of
# commands traced, with every function of the executable, and beside others on the same.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "$0")/lib.sh"

REQUESTS=${REQUESTS:-200000}
PG=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)

line() { printf '%-44s %12s %10s  %s\n' "$@"; }

# report NAME: THROUGHPUT beside that of WHOLE.
report()
{
	line "$1" "$THROUGHPUT" "$(awk -v t="$THROUGHPUT" -v w="$WHOLE" \
		'BEGIN { printf w ? "%.0f %%" : "-", 100 * t / (w + 1e-9) }')" "${2:-}"
}

free_port()
{
	python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

# as_traced NAME LOAD COMMAND...: with a tracer that says, in a line with this word, that
# it is attached.
as_traced()
{
	local name=$1 load=$2 word=$3 tracer

	shift 3
	"$@" >"$dir/traced" 2>&1 9>&- &
	tracer=$!
	pids+=("$tracer")
	if ! wait_line "$word" "$dir/traced" $tracer; then
		kill $tracer 2>/dev/null || true
		line "$name" - - "$(tail -n 1 "$dir/traced" | cut -c1-60)"
		return
	fi
	$load
	kill -"${SIGNAL:-INT}" $tracer
	wait $tracer 2>/dev/null || true
	report "$name" "$(sed -nE 's/.*; ([0-9]+ calls); .*, ([0-9]+ lost).*/\1, \2/p' "$dir/traced")"
}

with_inject_on()
{
	as_traced "$1" "$2" '^inject: paused' "$BUILD/inject" -p "$PID" -f "$3" -o /dev/null
}

with_bpftrace_on()
{
	command -v bpftrace >/dev/null || { line "$1" - - "not installed"; return; }
	[ "$(id -u)" = 0 ] || { line "$1" - - "needs root"; return; }
	# Killed, its probes go at once; to remove them takes it a tenth of a second each.
	SIGNAL=KILL BPFTRACE_MAX_PROBES=4096 as_traced "$1" "$2" '^attached' bpftrace -e "uprobe:$3 { @a = count(); }
		uretprobe:$3 { @b = count(); } BEGIN { printf(\"attached\\n\"); }"
}

# ---- redis ----

redis_load()
{
	THROUGHPUT=$(redis-benchmark -p "$PORT" -q -t get -c 20 -n "$REQUESTS" 2>/dev/null |
		tr '\r' '\n' | sed -nE 's/^GET: ([0-9]+)[.0-9]* requests per second.*/\1/p' | tail -n 1)
	THROUGHPUT=${THROUGHPUT:-0}
}

redis_answers() { redis-cli -p "$PORT" ping 2>/dev/null | grep -q PONG; }

# redis COMMAND...: start it, by that command; its PID is PID.
redis()
{
	PORT=$(free_port)
	"$@" --port "$PORT" --save '' --appendonly no --dir "$dir" >"$dir/redis" 2>&1 9>&- &
	pids+=("$!")
	for _ in $(seq 200); do
		redis_answers && break
		sleep 0.1
	done
	PID=$(redis-cli -p "$PORT" info server | tr -d '\r' | sed -n 's/^process_id://p')
}

redis_ends() { redis-cli -p "$PORT" shutdown nosave >/dev/null 2>&1 || true; }

redis_table()
{
	local server

	server=$(command -v redis-server) || { line redis - - "not installed"; return; }
	line 'redis-benchmark -t get -c 20' 'requests/s' '' ''
	redis "$server"
	redis_load
	WHOLE=$THROUGHPUT
	report 'not traced'
	with_inject_on 'inject, *Command' redis_load '*Command'
	with_bpftrace_on 'bpftrace, *Command' redis_load "$server:*Command"
	with_inject_on 'inject, every function of it' redis_load '*@exe'
	redis_load
	report 'inject, after removal'
	redis_ends
	if command -v uftrace >/dev/null; then
		redis uftrace record --no-libcall -d "$dir/uftrace" -P 'Command$' "$server"
		redis_load
		report 'uftrace, Command$, from its start'
		redis_ends
	fi
}

# ---- PostgreSQL ----

as_postgres()
{
	if [ "$(id -u)" = 0 ]; then
		set -- setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
	fi
	"$@"
}

# pgbench with one client; its server process is what is traced.
postgres_load()
{
	THROUGHPUT=$("$PG/pgbench" -h "$dir/pg" -p "$PORT" -U postgres -n -S -c 1 -T "${SECONDS_EACH:-8}" \
		postgres 2>/dev/null | sed -nE 's/^tps = ([0-9]+).*without.*/\1/p')
	THROUGHPUT=${THROUGHPUT:-0}
}

postgres_table()
{
	[ -n "$PG" ] || { line pgbench - - "not installed"; return; }
	PORT=$(free_port)
	mkdir "$dir/pg"
	chmod 755 "$dir"
	[ "$(id -u)" != 0 ] || chown postgres "$dir/pg"
	as_postgres "$PG/initdb" -D "$dir/pg/data" -A trust -U postgres >"$dir/err" 2>&1
	as_postgres "$PG/pg_ctl" -w -D "$dir/pg/data" -l "$dir/pg/log" \
		-o "-p $PORT -k $dir/pg -h ''" start >"$dir/err" 2>&1
	"$PG/pgbench" -h "$dir/pg" -p "$PORT" -U postgres -i -q postgres >"$dir/err" 2>&1
	PID=$(head -n 1 "$dir/pg/data/postmaster.pid")
	pids+=("$PID")
	line "pgbench -S, one client" 'transact./s' '' ''
	postgres_load
	WHOLE=$THROUGHPUT
	report 'not traced'
	# The server process is forked for the client: it is followed from there.
	with_children 'inject, Executor*' 'Executor*'
	with_bpftrace_on 'bpftrace, Executor*' postgres_load "$PG/postgres:Executor*"
	with_children 'inject, every function of it' '*@exe'
	postgres_load
	report 'inject, after removal'
	as_postgres "$PG/pg_ctl" -D "$dir/pg/data" -m fast stop >/dev/null 2>&1 || true
}

with_children()
{
	as_traced "$1" postgres_load '^inject: paused' "$BUILD/inject" -p "$PID" -f "$2" \
		--follow-fork -o /dev/null
}

redis_table
echo
postgres_table

#!/bin/bash
# SPDX-License-Identifier: MIT
# load: what does a server pay for being traced? Debian's redis and PostgreSQL, each of
# its own, with their own clients; not traced, with the functions of commands traced,
# with every function of the executable, and beside others on the same.
# Throughput says less of it than processor time: where processors wait for clients, a
# server that has more to do may even answer sooner, since it is woken less often.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "$0")/lib.sh"

REQUESTS=${REQUESTS:-200000}
PG=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)

line() { printf '%-36s %12s %8s %10s %8s  %s\n' "$@"; }

share()
{
	awk -v a="$1" -v b="$2" 'BEGIN { printf((b > 0) ? "%.0f %%" : "-", 100 * a / (b + 1e-9)) }'
}

# report NAME [NOTE]: THROUGHPUT and SPENT beside those of what is not traced.
report()
{
	line "$1" "$THROUGHPUT" "$(share "$THROUGHPUT" "$WHOLE")" "$SPENT" \
		"$(share "$SPENT" "$WHOLE_SPENT")" "${2:-}"
}

report_whole()
{
	WHOLE=$THROUGHPUT WHOLE_SPENT=$SPENT
	report 'not traced'
}

# Ticks of processor time of PID and of its children that have ended.
spent() { sed 's/.*) //' "/proc/$PID/stat" 2>/dev/null | awk '{ print $12 + $13 + $14 + $15 }'; }

# each TICKS N: microseconds of the processor, for each of N requests.
each() { awk -v t="$1" -v n="$2" -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "%.1f", t * 1e6 / hz / (n + 1e-9) }'; }

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
		line "$name" - - - - "$(tail -n 1 "$dir/traced" | cut -c1-60)"
		return
	fi
	$load
	kill -"${SIGNAL:-INT}" $tracer
	wait $tracer 2>/dev/null || true
	report "$name" "$(recorded)"
}

# What the tracer says of itself.
recorded()
{
	sed -nE 's/.*; ([0-9]+ calls); .*, ([0-9]+) lost.*/\1 \2/p' "$dir/traced" |
		awk '{ printf "%s calls", $1; if ($3) printf ", %s events lost", $3 }'
}

# with_inject_on NAME LOAD GLOB [OPTION...], by the verb VERB, if that is set.
with_inject_on()
{
	as_traced "$1" "$2" '^inject: paused' "$BUILD/inject" "${VERB:-trace}" -p "$PID" -f "$3" \
		-o /dev/null "${@:4}"
}

# Every function: recorded, with what one can do about losses; and timed in the target.
every_function()
{
	with_inject_on 'inject, every function' "$1" '*@exe' "${@:2}"
	with_inject_on 'inject -m 32M, every function' "$1" '*@exe' -m 32M "${@:2}"
	VERB=hist with_inject_on 'inject hist, every function' "$1" '*@exe' "${@:2}"
	VERB=count with_inject_on 'inject count, every function' "$1" '*@exe' "${@:2}"
}

with_bpftrace_on()
{
	command -v bpftrace >/dev/null || { line "$1" - - - - "not installed"; return; }
	[ "$(id -u)" = 0 ] || { line "$1" - - - - "needs root"; return; }
	# Killed, its probes go at once; to remove them takes it a tenth of a second each.
	SIGNAL=KILL BPFTRACE_MAX_PROBES=4096 as_traced "$1" "$2" '^attached' bpftrace -e "uprobe:$3 { @a = count(); }
		uretprobe:$3 { @b = count(); } BEGIN { printf(\"attached\\n\"); }"
}

# ---- redis ----

redis_load()
{
	local before

	before=$(spent)
	THROUGHPUT=$(redis-benchmark -p "$PORT" -q -t get -c 20 -n "$REQUESTS" 2>/dev/null |
		tr '\r' '\n' | sed -nE 's/^GET: ([0-9]+)[.0-9]* requests per second.*/\1/p' | tail -n 1)
	THROUGHPUT=${THROUGHPUT:-0}
	SPENT=$(each $(($(spent) - before)) "$REQUESTS")
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

	server=$(command -v redis-server) || { line redis - - - - "not installed"; return; }
	line 'redis-benchmark -t get -c 20' 'requests/s' '' 'CPU us' '' ''
	redis "$server"
	redis_load
	report_whole
	with_inject_on 'inject, *Command' redis_load '*Command'
	with_bpftrace_on 'bpftrace, *Command' redis_load "$server:*Command"
	every_function redis_load
	redis_load
	report 'inject, after removal'
	redis_ends
	if command -v uftrace >/dev/null; then
		redis uftrace record --no-libcall -d "$dir/uftrace" -P 'Command$' "$server"
		redis_load
		redis_ends
		wait "${pids[-1]}" || true
		report 'uftrace, Command$, from its start' "$(uftrace report -d "$dir/uftrace" \
			--no-pager 2>/dev/null | awk '$5 ~ /^[0-9]+$/ { n += $5; f++ }
				END { printf "%d calls, of %d functions that it can patch", n, f }')"
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

# pgbench with so many clients that no processor waits; their server processes, which are
# children of the first one, are what is traced, and have ended when it has.
postgres_load()
{
	local before n

	before=$(spent)
	"$PG/pgbench" -h "$dir/pg" -p "$PORT" -U postgres -n -S -c "$CLIENTS" -j 2 \
		-T "${SECONDS_EACH:-8}" postgres >"$dir/pgbench" 2>&1 || true
	THROUGHPUT=$(sed -nE 's/^tps = ([0-9]+).*without.*/\1/p' "$dir/pgbench")
	n=$(sed -nE 's/^number of transactions actually processed: ([0-9]+).*/\1/p' "$dir/pgbench")
	THROUGHPUT=${THROUGHPUT:-0}
	sleep 0.5
	SPENT=$(each $(($(spent) - before)) "${n:-0}")
}

postgres_table()
{
	[ -n "$PG" ] || { line pgbench - - - - "not installed"; return; }
	CLIENTS=$((2 * $(nproc)))
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
	line "pgbench -S -c $CLIENTS" 'transact./s' '' 'CPU us' '' ''
	postgres_load
	report_whole
	# A server process is forked for each client: it is followed from there.
	with_inject_on 'inject, Executor*' postgres_load 'Executor*' --follow-fork
	with_bpftrace_on 'bpftrace, Executor*' postgres_load "$PG/postgres:Executor*"
	every_function postgres_load --follow-fork
	postgres_load
	report 'inject, after removal'
	as_postgres "$PG/pg_ctl" -D "$dir/pg/data" -m fast stop >/dev/null 2>&1 || true
}

redis_table
echo
postgres_table
echo '(CPU us: processor time of the server for each request, user and system. Events that'
echo 'are lost were recorded faster than one reader takes: name fewer functions, give them'
echo 'more room for bursts (-m), or have them added up in the target, which loses nothing.)'

#!/bin/bash
# SPDX-License-Identifier: MIT
# load: what does a server pay for being traced? Debian's redis and PostgreSQL, each of
# its own, with their own clients; not traced, with the functions of commands traced,
# with every function of the executable, and beside others on the same.
# By name (redis, pgbench) one of them alone; SECONDS_EACH (8): of pgbench, in each row;
# REQUESTS (200000): of redis; ATTACH (30): seconds that bpftrace gets to attach.
# Throughput says less of it than processor time: where processors wait for clients, a
# server that has more to do may even answer sooner, since it is woken less often.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "$0")/lib.sh"

REQUESTS=${REQUESTS:-200000}
ATTACH=${ATTACH:-30}

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

# fresh_file FROM TO: a copy that was never executed; it is FILE.
fresh_file()
{
	mkdir -p "$(dirname "$2")"
	rm -f "$2"
	cp "$1" "$2"
	FILE=$2
}

# with_inject_on NAME LOAD GLOB [OPTION...], by the verb VERB, if that is set.
with_inject_on()
{
	local name=$1 load=$2 tracer

	"$BUILD/inject" "${VERB:-trace}" -p "$PID" -f "$3" -o /dev/null "${@:4}" \
		>"$dir/traced" 2>&1 9>&- &
	tracer=$!
	pids+=("$tracer")
	if ! wait_line '^inject: paused' "$dir/traced" $tracer; then
		kill $tracer 2>/dev/null || true
		wait $tracer 2>/dev/null || true
		absent_line "$name" "$(tail -n 1 "$dir/traced")"
		return
	fi
	$load
	kill -INT $tracer
	wait $tracer 2>/dev/null || true
	report "$name" "$(recorded)"
}

absent_line() { line "$1" - - - - "$(cut -c1-60 <<<"$2")"; }

# What inject says of itself.
recorded()
{
	sed -nE 's/^inject: ([0-9]+) functions? probed.*; ([0-9]+) calls?; .*, ([0-9]+) lost.*/\1 \2 \3/p' \
		"$dir/traced" | awk '{ printf "%d functions, %d calls", $1, $2
			if ($3) printf ", %d events lost", $3 }'
}

# Every function: recorded, with what one can do about losses; and timed in the target.
every_function()
{
	with_inject_on 'inject, every function' "$1" '*@exe' "${@:2}"
	with_inject_on 'inject -m 32M, every function' "$1" '*@exe' -m 32M "${@:2}"
	VERB=hist with_inject_on 'inject hist, every function' "$1" '*@exe' "${@:2}"
	VERB=count with_inject_on 'inject count, every function' "$1" '*@exe' "${@:2}"
}

# How many of its probes bpftrace has put in, and into how many functions: one at the entry
# and one at the return of each.
attached_in()
{
	local all now

	all=$(sed -n 's/^Attaching \([0-9]*\) probes.*/\1/p' "$dir/traced")
	now=$(find "/proc/$1/fd" -lname '*perf_event*' 2>/dev/null | wc -l)
	if grep -q '^attached' "$dir/traced"; then
		echo "$((all / 2 - 1)) functions, attached in $2 s"
	else
		echo "$now of $((all - 2)) probes attached in $2 s, measured with these"
	fi
}

# with_bpftrace_on NAME LOAD START STOP GLOB: it attaches its probes one by one, and gets so
# many seconds for it. To remove them takes the kernel a tenth of a second each, and they
# are in all processes of this file: so it has a server and a file of its own, which
# nothing waits for.
with_bpftrace_on()
{
	local tracer note began

	command -v bpftrace >/dev/null || { absent_line "$1" "not installed"; return; }
	[ "$(id -u)" = 0 ] || { absent_line "$1" "needs root"; return; }
	$3 || { absent_line "$1" "the server does not come up"; return; }
	began=$SECONDS
	BPFTRACE_MAX_PROBES=100000 bpftrace -e "uprobe:$FILE:$5 { @a = count(); }
		uretprobe:$FILE:$5 { @b = count(); } BEGIN { printf(\"attached\\n\"); }
		interval:s:1 { print(@a); }" >"$dir/traced" 2>&1 9>&- &
	tracer=$!
	disown $tracer
	wait_line '^attached' "$dir/traced" $tracer "$ATTACH" || true
	note=$(attached_in $tracer $((SECONDS - began)))
	if kill -0 $tracer 2>/dev/null && [[ $note != "0 of "* ]]; then
		$2
		sleep 1.5
		note+=$(sed -n 's/^@a: \([0-9]*\)$/, \1 calls/p' "$dir/traced" | tail -n 1)
		kill -0 "$PID" 2>/dev/null || note+=", the server has died"
		report "$1" "$note"
	else
		absent_line "$1" "$note; $(tail -n 1 "$dir/traced")"
	fi
	kill -KILL $tracer 2>/dev/null || true
	$4
}

# with_uftrace_on NAME LOAD START STOP PATTERN: it cannot attach to what runs; so the server
# is started by it.
with_uftrace_on()
{
	command -v uftrace >/dev/null || { absent_line "$1" "not installed"; return; }
	rm -rf "$dir/open/uftrace"
	if $3 uftrace record -v --no-libcall -d "$dir/open/uftrace" -P "$5"; then
		$2
		$4
		wait "${pids[-1]}" || true
		report "$1" "$(uftraced)"
	else
		$4
		absent_line "$1" "the server does not come up: $(tail -n 1 "$dir/server")"
	fi
	rm -rf "$dir/open/uftrace"
}

# An entry and an exit are 16 bytes each.
uftraced()
{
	sed -nE 's/^dynamic: +(total|patched): +([0-9]+).*/\1 \2/p
		s/^dynamic: patched all \(([0-9]+)\).*/total \1\npatched \1/p; s/.*LOST ([0-9]+) records.*/lost \1/p' \
		"$dir/server" | awk -v bytes="$(cat "$dir"/open/uftrace/[0-9]*.dat | wc -c)" '
		{ n[$1] = $2 } END { printf "%d of %d functions, %d calls", n["patched"], n["total"],
			bytes / 32; if (n["lost"]) printf ", %d events lost", n["lost"] }'
}

# ---- redis ----

# REQUESTS of them, or one in FEWER.
redis_load()
{
	local before n=$((REQUESTS / ${FEWER:-1}))

	before=$(spent)
	THROUGHPUT=$(redis-benchmark -p "$PORT" -q -t get -c 20 -n $n 2>/dev/null |
		tr '\r' '\n' | sed -nE 's/^GET: ([0-9]+)[.0-9]* requests per second.*/\1/p' | tail -n 1)
	THROUGHPUT=${THROUGHPUT:-0}
	SPENT=$(each $(($(spent) - before)) $n)
}

redis_answers() { redis-cli -p "$PORT" ping 2>/dev/null | grep -q PONG; }

# redis [COMMAND...]: start it, by that command; its PID is PID, and FILE what it executes.
# shellcheck disable=SC2120 # with_uftrace_on gives it one
redis()
{
	PORT=$(free_port)
	fresh_file "$(command -v redis-server)" "$dir/open/bin/redis-server"
	"$@" "$FILE" --port "$PORT" --save '' --appendonly no --dir "$dir" >"$dir/server" 2>&1 9>&- &
	pids+=("$!")
	for _ in $(seq 200); do
		redis_answers && break
		sleep 0.1
	done
	PID=$(redis-cli -p "$PORT" info server 2>/dev/null | tr -d '\r' | sed -n 's/^process_id://p')
	[ -n "$PID" ]
}

redis_ends()
{
	redis-cli -p "$PORT" shutdown nosave >/dev/null 2>&1 || kill "${pids[-1]}" 2>/dev/null || true
}

redis_table()
{
	command -v redis-server >/dev/null || { absent_line redis "not installed"; return; }
	line 'redis-benchmark -t get -c 20' 'requests/s' '' 'CPU us' '' ''
	redis || { absent_line redis "does not start: $(tail -n 1 "$dir/server")"; return; }
	redis_load
	report_whole
	with_inject_on 'inject, *Command' redis_load '*Command'
	every_function redis_load
	redis_load
	report 'inject, after removal'
	redis_ends
	with_bpftrace_on 'bpftrace, *Command' redis_load redis redis_ends '*Command'
	FEWER=40 with_bpftrace_on 'bpftrace, every function' redis_load redis redis_ends '*'
	with_uftrace_on 'uftrace, *Command' redis_load redis redis_ends 'Command$'
	with_uftrace_on 'uftrace, every function' redis_load redis redis_ends .
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
	"$PG/pgbench" -h "$dir/open" -p "$PORT" -U postgres -n -S -c "$CLIENTS" -j 2 \
		-T "${SECONDS_EACH:-8}" postgres >"$dir/pgbench" 2>&1 || true
	THROUGHPUT=$(sed -nE 's/^tps = ([0-9]+).*without.*/\1/p' "$dir/pgbench")
	n=$(sed -nE 's/^number of transactions actually processed: ([0-9]+).*/\1/p' "$dir/pgbench")
	THROUGHPUT=${THROUGHPUT:-0}
	sleep 0.5
	SPENT=$(each $(($(spent) - before)) "${n:-0}")
}

# postgres [COMMAND...]: start it, by that command; the PID of its first process is PID, and
# FILE what it executes. It finds its other files from there.
# shellcheck disable=SC2120 # likewise
postgres()
{
	local place=$dir/open${PG#/usr}

	mkdir -p "$place" "$dir/open/share"
	ln -sfn /usr/share/postgresql "$dir/open/share/postgresql"
	ln -sfn "${PG%/bin}/lib" "${place%/bin}/lib"
	fresh_file "$PG/postgres" "$place/postgres"
	as_postgres "$@" "$FILE" -D "$dir/open/data" -p "$PORT" -k "$dir/open" -h '' \
		>"$dir/server" 2>&1 9>&- &
	pids+=("$!")
	for _ in $(seq 300); do
		"$PG/pg_isready" -q -h "$dir/open" -p "$PORT" && break
		sleep 0.1
	done
	PID=$(head -n 1 "$dir/open/data/postmaster.pid" 2>/dev/null)
	[ -n "$PID" ]
}

postgres_ends()
{
	as_postgres "$PG/pg_ctl" -D "$dir/open/data" -m fast stop >/dev/null 2>&1 ||
		kill "${pids[-1]}" 2>/dev/null || true
}

postgres_table()
{
	[ -n "$PG" ] || { absent_line pgbench "not installed"; return; }
	CLIENTS=$((2 * $(nproc)))
	PORT=$(free_port)
	as_postgres "$PG/initdb" -D "$dir/open/data" -A trust -U postgres >"$dir/err" 2>&1
	line "pgbench -S -c $CLIENTS" 'transact./s' '' 'CPU us' '' ''
	postgres || { absent_line pgbench "does not start: $(tail -n 1 "$dir/server")"; return; }
	"$PG/pgbench" -h "$dir/open" -p "$PORT" -U postgres -i -q postgres >"$dir/err" 2>&1
	postgres_load
	report_whole
	# A server process is forked for each client: it is followed from there.
	with_inject_on 'inject, Executor*' postgres_load 'Executor*' --follow-fork
	every_function postgres_load --follow-fork
	postgres_load
	report 'inject, after removal'
	postgres_ends
	with_bpftrace_on 'bpftrace, Executor*' postgres_load postgres postgres_ends 'Executor*'
	with_bpftrace_on 'bpftrace, every function' postgres_load postgres postgres_ends '*'
	with_uftrace_on 'uftrace, Executor*' postgres_load postgres postgres_ends '^Executor'
	with_uftrace_on 'uftrace, every function' postgres_load postgres postgres_ends .
}

# A directory for users who are not root.
chmod 711 "$dir"
mkdir "$dir/open"
[ "$(id -u)" != 0 ] || ! id postgres >/dev/null 2>&1 || chown postgres "$dir/open"
for table in "${@:-all}"; do
	case $table in
	redis) redis_table ;;
	pgbench) postgres_table ;;
	all) redis_table; echo; postgres_table ;;
	*) echo "usage: bench/load.sh [redis] [pgbench]" >&2; exit 2 ;;
	esac
done
echo '(CPU us: processor time of the server for each request, user and system. Events that'
echo 'are lost were recorded faster than one reader takes: name fewer functions, give them'
echo 'more room for bursts (-m), or have them added up in the target, which loses nothing.'
echo "bpftrace has $ATTACH s to attach; uftrace starts the server.)"

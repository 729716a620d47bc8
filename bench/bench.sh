#!/bin/bash
# SPDX-License-Identifier: MIT
# bench: what does a probed call cost, beside the least that it could cost and
# beside other tracers on the same program, how long is a process stopped, and
# what does it take to plan probes for large files?
# Numbers of one run are to be compared with each other only.
#
# A tracer that is not installed, or may not run here, is named as such.
set -euo pipefail
cd "$(dirname "$0")/.."
BUILD=$(realpath "${BUILD:-build}")
CC=${CC:-cc}
dir=$(mktemp -d)
pids=()

finish()
{
	trap - EXIT
	exec 9>&- || true
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	wait || true
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT TERM

# program PATH: start it as PROGRAM, with its commands on descriptor 9.
program()
{
	rm -f "$dir/in"
	mkfifo "$dir/in"
	"$@" <"$dir/in" >"$dir/out" 2>"$dir/program.err" 9>&- &
	PROGRAM=$!
	pids+=("$PROGRAM")
	exec 9>"$dir/in"
	wait_line '^ready' "$dir/out" "$PROGRAM" || {
		cat "$dir/program.err" >&2
		echo "bench: $1 does not start" >&2
		exit 1
	}
}

program_ends()
{
	echo quit >&9
	exec 9>&-
	for _ in $(seq 100); do
		kill -0 "$PROGRAM" 2>/dev/null || break
		sleep 0.05
	done
	kill -KILL "$PROGRAM" 2>/dev/null || true
	wait "$PROGRAM" 2>/dev/null || true
}

# measure COMMAND: sets NS and FLOOR.
measure()
{
	local n

	n=$(grep -c '^call' "$dir/out" || true)
	echo "$1" >&9
	for _ in $(seq 300); do
		[ "$(grep -c '^call' "$dir/out")" -gt "$n" ] && break
		sleep 0.1
	done
	read -r _ NS _ FLOOR < <(tail -n 1 "$dir/out")
}

row() { printf '%-34s %10s %10s\n' "$@"; }

# result NAME: the last measurement, beside the call alone and the floor.
result()
{
	row "$1" "$NS" "$(awk -v n="$NS" -v p="$PLAIN" -v f="$FLOOR" \
		'BEGIN { printf "%.2f", (n - p) / (f - p) }')"
}

absent() { row "$1" - "$2"; }

wait_line()
{
	for _ in $(seq 200); do
		grep -q "$1" "$2" 2>/dev/null && return 0
		kill -0 "$3" 2>/dev/null || return 1
		sleep 0.05
	done
	return 1
}

# lost_share: what the last inject lost, in percent of what it was to record.
lost_share()
{
	sed -nE 's/.* ([0-9]+) events? recorded, ([0-9]+) lost.*/\1 \2/p' "$dir/err" |
		awk '{ printf "%.0f", 100 * $2 / ($1 + $2) }'
}

# with_inject NAME COMMAND ARG...
with_inject()
{
	local name=$1 command=$2 tracer

	shift 2
	"$BUILD/inject" -p "$PROGRAM" -f 'bench_*' -o /dev/null "$@" 2>"$dir/err" 9>&- &
	tracer=$!
	pids+=("$tracer")
	if ! wait_line '^inject: paused' "$dir/err" $tracer; then
		absent "$name" "$(tail -n 1 "$dir/err")"
		return
	fi
	measure "$command"
	kill -INT $tracer
	wait $tracer || true
	result "$name"
	grep -q ', 0 lost' "$dir/err" || echo "    ($(lost_share) % of it lost, and counted)"
}

# with_bpftrace NAME COMMAND SCRIPT
with_bpftrace()
{
	local name=$1 command=$2 script=$3 tracer

	command -v bpftrace >/dev/null || { absent "$name" "not installed"; return; }
	[ "$(id -u)" = 0 ] || { absent "$name" "needs root"; return; }
	mountpoint -q /sys/kernel/tracing 2>/dev/null ||
		mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null || true
	bpftrace -e "$script BEGIN { printf(\"attached\\n\"); }" >"$dir/err" 2>&1 9>&- &
	tracer=$!
	pids+=("$tracer")
	if ! wait_line '^attached' "$dir/err" $tracer; then
		kill $tracer 2>/dev/null || true
		absent "$name" "$(head -n 1 "$dir/err" | cut -c1-40)"
		return
	fi
	measure "$command"
	kill -INT $tracer
	wait $tracer || true
	result "$name"
}

# with_uftrace COMMAND: in a process of its own, built for it.
with_uftrace()
{
	local name="uftrace, built with -pg"

	command -v uftrace >/dev/null || { absent "$name" "not installed"; return; }
	"$CC" -I. -D_GNU_SOURCE -std=gnu11 -O2 -pg -o "$dir/calls-pg" bench/calls.c ||
		{ absent "$name" "no -pg"; return; }
	program uftrace record --no-libcall -d "$dir/uftrace" -F '^bench_' "$dir/calls-pg"
	measure "$1"
	program_ends
	result "$name"
}

both_ends()
{
	echo "uprobe:$dir/calls:bench_* { @a = count(); } uretprobe:$dir/calls:bench_* { @b = count(); }"
}

# shape TITLE COMMAND: calls that nest otherwise, beside other tracers.
shape()
{
	program "$dir/calls"
	measure "$2"
	PLAIN=$NS
	echo
	row "$1" ns ratio
	row 'not traced' "$PLAIN" 0
	row 'floor' "$FLOOR" 1
	with_inject 'inject, entry and exit' "$2"
	with_bpftrace 'bpftrace, uprobe and uretprobe' "$2" "$(both_ends)"
	program_ends
	with_uftrace "$2"
}

shapes()
{
	shape 'recursion: two calls in each' recursion
	shape 'depth: 30 calls open at once' depth
	shape 'a leaf under 16 untraced callers' leaf
}

calls()
{
	"$CC" -I. -D_GNU_SOURCE -std=gnu11 -O2 -rdynamic -o "$dir/calls" bench/calls.c
	program "$dir/calls"
	measure bursts
	PLAIN=$NS
	row 'one call' ns 'ratio'
	row 'not traced' "$PLAIN" 0
	row 'floor (2 time stamps, 2 stores)' "$FLOOR" 1
	with_inject 'inject, entry and exit' bursts
	with_inject 'inject, entry only' bursts --entry-only
	with_inject 'inject, flood of calls' flood
	with_inject 'inject, flood, entry only' flood --entry-only
	measure bursts
	result 'inject, after removal'
	with_bpftrace 'bpftrace, uprobe' bursts "uprobe:$dir/calls:bench_call { @ = count(); }"
	with_bpftrace 'bpftrace, uprobe and uretprobe' bursts "$(both_ends)"
	program_ends
	with_uftrace bursts
	echo '(ratio: what is added to a call, in floors; in bursts of 1000 calls with'
	echo 'pauses of 2 ms; a flood has no pauses, and the reader does not keep up)'
}

# pause NAME VISITS GLOB PROGRAM...: its stops, over so many visits.
pause()
{
	local name=$1 visits=$2 glob=$3 functions all=''

	shift 3
	program "$@"
	for _ in $(seq "$visits"); do
		timeout -k 5 40 "$BUILD/inject" -p "$PROGRAM" -f "$glob" -d 0.2 -t 1s \
			-o /dev/null --max-pause 5s 2>"$dir/err" 9>&- || true
		all+=$(sed -n 's/.*longest pause \([0-9.]*\) ms.*/\1/p' "$dir/err")$'\n'
	done
	functions=$(sed -n 's/^inject: \([0-9]*\) functions\{0,1\} probed.*/\1/p' "$dir/err")
	read -r least median most < <(grep . <<<"$all" | sort -n |
		awk '{ v[NR] = $1 } END { print v[1], v[int((NR + 1) / 2)], v[NR] }') || true
	if [ -z "$most" ]; then
		absent "$name" "$(tail -n 1 "$dir/err")"
	else
		printf '%-34s %10s %10s %10s %10s\n' "$name" "$functions" "$least" "$median" "$most"
	fi
	program_ends
}

pauses()
{
	local n spin=$BUILD/tests/victims/spin_threads

	printf '\n%-34s %10s %10s %10s %10s\n' 'one stop, ms' functions least median most
	for n in 1 10 100; do
		pause "threads that sleep: $n" 5 'spin_*' "$spin" "$n" idle
	done
	for n in 1 10 100; do
		pause "threads that all run: $n" $((n < 100 ? 5 : 1)) 'spin_*' "$spin" "$n"
	done
	"$CC" -I. -D_GNU_SOURCE -std=gnu11 -O2 -rdynamic -pthread -o "$dir/many" bench/many.c
	pause 'threads mostly asleep: 64' 5 'many_*' "$dir/many" 64
	echo "(the longest stop of the whole process in a visit, over five visits, one for 100 running; $(nproc) processors)"
}

# plan NAME FILE ARG...: what `inject list` spends on it.
plan()
{
	local name=$1 functions seconds mib

	shift
	"$dir/spent" "$BUILD/inject" list "$@" >"$dir/list" 2>"$dir/err" || {
		absent "$name" "$(tail -n 1 "$dir/err")"
		return
	}
	functions=$(wc -l <"$dir/list")
	read -r _ seconds mib < <(tail -n 1 "$dir/err")
	printf '%-34s %10s %10s %10s %10s\n' "$name" "$functions" "$seconds" "$mib" \
		"$(awk -v s="$seconds" -v n="$functions" 'BEGIN { printf(n > 10 ? "%.0f" : "-", s * 1e6 / n) }')"
}

# Files that grow: time and memory are to grow with them, and no faster.
plans()
{
	local path name largest='' ten=()

	"$CC" -D_GNU_SOURCE -std=gnu11 -O2 -o "$dir/spent" bench/spent.c
	printf '\n%-34s %10s %10s %10s %10s\n' 'a plan (inject list FILE)' functions \
		seconds MiB 'us each'
	for path in /usr/lib/*-linux-gnu/libsqlite3.so.0 /usr/bin/redis-server \
		/usr/lib/postgresql/*/bin/postgres /usr/lib/gcc/*-linux-gnu/*/cc1 /usr/bin/node; do
		[ -e "$path" ] || { absent "${path##*/}" "not installed"; continue; }
		plan "${path##*/}" "$path"
		largest=$path
	done
	[ -n "$largest" ] || return 0
	# Ten functions from all over it, those with plain names.
	while read -r name; do
		ten+=(-f "$name")
	done < <(cut -f 4 "$dir/list" | grep '^[a-zA-Z0-9_]*$' | sort -u |
		awk '{ v[NR] = $0 } END { for (i = 1; i <= 10; i++) print v[int(NR * i / 10)] }')
	plan "${largest##*/}, ten of them" "$largest" "${ten[@]}"
}

for hot in "$BUILD"/bench/hot*; do
	[ -x "$hot" ] && [ -f "$hot" ] && "$hot" && echo
done
calls
shapes
pauses
plans

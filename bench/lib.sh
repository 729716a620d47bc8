# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# lib: what the tables have in common: a program that says what a call costs it, and
# those that trace it meanwhile. Sourced from a script in this directory.
cd "$(dirname "$0")/.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
CC=${CC:-cc}
# shellcheck disable=SC2034	# for who measures it
PG=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1) || true	# or nothing
dir=$(mktemp -d)
pids=()

finish()
{
	trap - EXIT
	exec 9>&- || true
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	wait || true
	[ -z "${PROBED:-}" ] || perf probe -q -d 'probe_calls:*' >/dev/null 2>&1 || true
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
		return 1
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

# measure COMMAND: sets NS and FLOOR, and COMPILED where the program says that, too.
measure()
{
	local n

	n=$(grep -c '^call' "$dir/out" || true)
	echo "$1" >&9
	for _ in $(seq 1200); do
		[ "$(grep -c '^call' "$dir/out")" -gt "$n" ] && break
		kill -0 "$PROGRAM" 2>/dev/null || break
		sleep 0.1
	done
	# shellcheck disable=SC2034	# for who measures such a program
	read -r _ NS _ FLOOR _ COMPILED < <(tail -n 1 "$dir/out")
}

free_port()
{
	python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

row() { printf '%-34s %10s %10s\n' "$@"; }

# result NAME: the last measurement, beside the call alone and the floor.
result()
{
	row "$1" "$NS" "$(awk -v n="$NS" -v p="$PLAIN" -v f="$FLOOR" \
		'BEGIN { printf "%.2f", (n - p) / (f - p) }')"
}

absent() { row "$1" - "$2"; }

# wait_line PATTERN FILE PID [SECONDS]: until the line is there, while the process is.
wait_line()
{
	local end=$((SECONDS + ${4:-10} + 1))

	until grep -q "$1" "$2" 2>/dev/null; do
		kill -0 "$3" 2>/dev/null && [ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

# lost_share: what the last inject lost, in percent of what it was to record.
lost_share()
{
	sed -nE 's/.* ([0-9]+) events? recorded, ([0-9]+) lost.*/\1 \2/p' "$dir/err" |
		awk '{ printf "%.0f", 100 * $2 / ($1 + $2) }'
}

# with_inject NAME COMMAND ARG...: by the verb VERB, if that is set.
with_inject()
{
	local name=$1 command=$2 tracer

	shift 2
	"$BUILD/inject" "${VERB:-trace}" -p "$PROGRAM" -f 'bench_*' -o /dev/null "$@" 2>"$dir/err" 9>&- &
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

# stranger_ends PID: by Ctrl-C, or else at once: bpftrace now and then misses that.
stranger_ends()
{
	kill -INT "$1" 2>/dev/null || true
	for _ in $(seq 200); do
		kill -0 "$1" 2>/dev/null || break
		sleep 0.1
	done
	kill -KILL "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
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
	stranger_ends $tracer
	result "$name"
}

# run_own NAME COMMAND PROGRAM...: in a process of its own, which is traced as it is
# started.
run_own()
{
	local name=$1 command=$2

	shift 2
	program "$@" 2>/dev/null || { absent "$name" "does not run here"; return; }
	measure "$command"
	program_ends
	result "$name"
}

# variant NAME OPTION...: bench/calls.c built otherwise, as $dir/calls-NAME.
variant()
{
	local name=$1

	shift
	"$CC" -I. -D_GNU_SOURCE -std=gnu11 -O2 -rdynamic "$@" -o "$dir/calls-$name" \
		bench/calls.c 2>"$dir/err"
}

# with_uftrace COMMAND: each of its ways to get at a function.
with_uftrace()
{
	local record=(uftrace record --no-libcall -d "$dir/uftrace")

	command -v uftrace >/dev/null || { absent uftrace "not installed"; return; }
	variant pg -pg && run_own 'uftrace, built with -pg' "$1" \
		"${record[@]}" -F '^bench_' "$dir/calls-pg"
	variant nops -pg -mfentry -mnop-mcount -fno-pie -no-pie && run_own \
		'uftrace, built with nops' "$1" "${record[@]}" -P '^bench_' "$dir/calls-nops"
	variant plain && run_own 'uftrace, fully dynamic' "$1" \
		"${record[@]}" -P '^bench_' "$dir/calls-plain"
}

# with_perf NAME COMMAND PROBE...: a uprobe, or with %return a uretprobe, or both.
with_perf()
{
	local name=$1 command=$2 tracer probe events=''

	shift 2
	command -v perf >/dev/null || { absent "$name" "not installed"; return; }
	[ "$(id -u)" = 0 ] || { absent "$name" "needs root"; return; }
	PROBED=1
	for probe; do
		perf probe -q -f -x "$dir/calls" --add "$probe" >"$dir/err" 2>&1 || {
			absent "$name" "$(grep -m 1 . "$dir/err" | cut -c1-40)"
			perf probe -q -d 'probe_calls:*' >/dev/null 2>&1 || true
			return
		}
	done
	events=$(perf probe -l 2>/dev/null | sed -n 's/^ *\(probe_calls:[^ ]*\).*/-e \1/p')
	# shellcheck disable=SC2086 # a list of options
	perf record -q -p "$PROGRAM" $events -o "$dir/perf.data" >"$dir/err" 2>&1 9>&- &
	tracer=$!
	pids+=("$tracer")
	sleep 1
	measure "$command"
	stranger_ends $tracer
	perf probe -q -d 'probe_calls:*' >/dev/null 2>&1 || true
	result "$name"
}

# with_ltrace NAME COMMAND: it stops the process at each call.
with_ltrace()
{
	local tracer

	command -v ltrace >/dev/null || { absent "$1" "not installed"; return; }
	program "$dir/calls-plain"
	ltrace -p "$PROGRAM" -L -x bench_call -o /dev/null >"$dir/err" 2>&1 9>&- &
	tracer=$!
	pids+=("$tracer")
	sleep 2
	measure "$2"
	stranger_ends $tracer
	result "$1"
	program_ends
}

# lttng_begins: LTTng's daemon is there, one of our own if no other is. lttng_ends SESSION: as before.
lttng_begins()
{
	LTTNG_DAEMON=
	export LTTNG_HOME=$dir/lttng
	mkdir -p "$LTTNG_HOME"
	lttng list >/dev/null 2>&1 && return
	lttng-sessiond --no-kernel >"$dir/sessiond.err" 2>&1 9>&- &
	LTTNG_DAEMON=$!
	pids+=("$LTTNG_DAEMON")
	for _ in $(seq 100); do
		lttng list >/dev/null 2>&1 && break
		sleep 0.1
	done
}

lttng_ends()
{
	lttng destroy "$1" >/dev/null 2>&1 || true
	[ -z "$LTTNG_DAEMON" ] || { kill "$LTTNG_DAEMON" && wait "$LTTNG_DAEMON"; } 2>/dev/null || true
}

# with_lttng NAME COMMAND: LTTng-UST, compiled in at entry and exit.
with_lttng()
{
	local name=$1 cyg

	command -v lttng-sessiond >/dev/null || { absent "$name" "not installed"; return; }
	cyg=$(ls /usr/lib/*/liblttng-ust-cyg-profile-fast.so* 2>/dev/null | head -n 1)
	[ -n "$cyg" ] || { absent "$name" "no liblttng-ust-cyg-profile-fast"; return; }
	variant lttng -finstrument-functions || { absent "$name" "does not build"; return; }
	lttng_begins
	if lttng create inject-bench --output "$LTTNG_HOME/trace" >"$dir/err" 2>&1 &&
		lttng enable-event -u 'lttng_ust_cyg_profile_fast:*' >>"$dir/err" 2>&1 &&
		lttng start >>"$dir/err" 2>&1; then
		run_own "$name" "$2" env LD_PRELOAD="$cyg" "$dir/calls-lttng"
	else
		absent "$name" "$(tail -n 1 "$dir/err" | cut -c1-40)"
	fi
	lttng_ends inject-bench
}

both_ends()
{
	echo "uprobe:$dir/calls:bench_* { @a = count(); } uretprobe:$dir/calls:bench_* { @b = count(); }"
}

#!/bin/bash
# SPDX-License-Identifier: MIT
# bench: what does a probed call cost, beside the least that it could cost and
# beside other tracers on the same program, how long is a process stopped, and
# what does it take to plan probes for large files?
# Numbers of one run are to be compared with each other only.
#
# A tracer that is not installed, or may not run here, is named as such.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "$0")/lib.sh"

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

# The same where functions begin with endbr64, over which kernels step.
landing()
{
	variant landing -fcf-protection || return 0
	cp "$dir/calls-landing" "$dir/calls"
	program "$dir/calls"
	measure bursts
	PLAIN=$NS
	row 'functions that begin with endbr64' "$PLAIN" 0
	with_inject 'inject, entry and exit' bursts
	with_bpftrace 'bpftrace, uprobe' bursts "uprobe:$dir/calls:bench_call { @ = count(); }"
	with_bpftrace 'bpftrace, uprobe and uretprobe' bursts "$(both_ends)"
	program_ends
}

calls()
{
	variant plain
	cp "$dir/calls-plain" "$dir/calls"
	program "$dir/calls"
	measure bursts
	PLAIN=$NS
	row 'one call' ns 'ratio'
	row 'not traced' "$PLAIN" 0
	row 'floor (2 time stamps, 2 stores)' "$FLOOR" 1
	with_inject 'inject, entry and exit' bursts
	with_inject 'inject, entry only' bursts --entry-only
	VERB=count with_inject 'inject count' bursts
	VERB=hist with_inject 'inject hist' bursts
	with_inject 'inject, flood of calls' flood
	with_inject 'inject, flood, entry only' flood --entry-only
	VERB=hist with_inject 'inject hist, flood' flood
	measure bursts
	result 'inject, after removal'
	with_bpftrace 'bpftrace, uprobe' bursts "uprobe:$dir/calls:bench_call { @ = count(); }"
	with_bpftrace 'bpftrace, uprobe and uretprobe' bursts "$(both_ends)"
	with_perf 'perf, uprobe' bursts bench_call
	with_perf 'perf, uprobe and uretprobe' bursts bench_call bench_return=bench_call%return
	program_ends
	with_uftrace bursts
	with_lttng 'LTTng-UST, compiled in' bursts
	with_ltrace 'ltrace' bursts
	landing
	echo '(ratio: what is added to a call, in floors; in bursts of 1000 calls with'
	echo 'pauses of 2 ms; a flood has no pauses, and the reader does not keep up)'
}

# pause NAME VISITS GLOB PROGRAM...: its stops, over so many visits, which record all and print
# nothing.
pause()
{
	local name=$1 visits=$2 glob=$3 functions all=''

	shift 3
	program "$@"
	for _ in $(seq "$visits"); do
		timeout -k 5 40 "$BUILD/inject" -p "$PROGRAM" -f "$glob" -d 0.2 --tid 1 \
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
	local path name last='' ten=()

	"$CC" -D_GNU_SOURCE -std=gnu11 -O2 -o "$dir/spent" bench/spent.c
	printf '\n%-34s %10s %10s %10s %10s\n' 'a plan (inject list FILE)' functions \
		seconds MiB 'us each'
	for path in /usr/lib/*-linux-gnu/libsqlite3.so.0 /usr/bin/redis-server \
		/usr/lib/postgresql/*/bin/postgres /usr/lib/gcc/*-linux-gnu/*/cc1 \
		/usr/lib/chromium/chromium /usr/lib/*-linux-gnu/librustc_driver-*.so \
		/usr/bin/node; do
		name=${path##*/}
		name=${name%-????????????????.so}	# of its build
		[ -e "$path" ] || { absent "$name" "not installed"; continue; }
		plan "$name" "$path"
		last=$path
	done
	[ -n "$last" ] || return 0
	# Ten functions from all over it, those with plain names.
	while read -r name; do
		ten+=(-f "$name")
	done < <(cut -f 4 "$dir/list" | grep '^[a-zA-Z0-9_]*$' | sort -u |
		awk '{ v[NR] = $0 } END { for (i = 1; i <= 10; i++) print v[int(NR * i / 10)] }')
	plan "${last##*/}, ten of them" "$last" "${ten[@]}"
}

for hot in "$BUILD"/bench/hot*; do
	[ -x "$hot" ] && [ -f "$hot" ] && "$hot" && echo
done
calls
shapes
pauses
plans

#!/bin/bash
# SPDX-License-Identifier: MIT
# captures: what does it add to a call that its values are read, a condition is judged, its stack is
# walked, or that it is left out; beside other tracers that read the same of the same program? In ns,
# and in floors (two time stamps and two stores); in bursts that no buffer overflows of.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "$0")/lib.sh"

# captured NAME COMMAND INJECT-ARG...
captured()
{
	local name=$1 command=$2 tracer

	shift 2
	measure "$command"
	PLAIN=$NS
	"$BUILD/inject" "${VERB:-trace}" -p "$PROGRAM" -o /dev/null "$@" 2>"$dir/err" 9>&- &
	tracer=$!
	pids+=("$tracer")
	if ! wait_line '^inject: paused' "$dir/err" $tracer; then
		absent "$name" "$(tail -n 1 "$dir/err")"
		return
	fi
	measure "$command"
	kill -INT $tracer
	wait $tracer || true
	row "$name" "$(awk -v n="$NS" -v p="$PLAIN" 'BEGIN { printf "%.1f", n - p }')" \
		"$(awk -v n="$NS" -v p="$PLAIN" -v f="$FLOOR" 'BEGIN { printf "%.2f", (n - p) / (f - p) }')"
	grep -q ', 0 lost' "$dir/err" || echo "    ($(lost_share) % of it lost, and counted)"
}

# LTTng's events are compiled in; what they add is told beside the program without them.
with_events()
{
	local name=$1 command=$2 plain

	command -v lttng-sessiond >/dev/null || { absent "$name" "not installed"; return; }
	printf '%s\n' '#define LTTNG_UST_TRACEPOINT_CREATE_PROBES' '#define LTTNG_UST_TRACEPOINT_DEFINE' \
		'#include "captures_lttng.h"' >"$dir/events.c"
	"$CC" -Ibench -I. -D_GNU_SOURCE -std=gnu11 -O2 -g -rdynamic -DLTTNG -o "$dir/events" bench/captures.c \
		"$dir/events.c" -llttng-ust -ldl 2>"$dir/err" || { absent "$name" "does not build"; return; }
	program "$dir/captures"
	measure "$command"
	plain=$NS
	program_ends
	lttng_begins
	if lttng create captures --output "$LTTNG_HOME/trace" >"$dir/err" 2>&1 &&
		lttng enable-event -u 'captures:*' >>"$dir/err" 2>&1 && lttng start >>"$dir/err" 2>&1; then
		program "$dir/events"
		measure "$command"
		program_ends
		row "$name" "$(awk -v n="$NS" -v p="$plain" 'BEGIN { printf "%.1f", n - p }')" \
			"$(awk -v n="$NS" -v p="$plain" -v f="$FLOOR" 'BEGIN { printf "%.2f", (n - p) / (f - p) }')"
	else
		absent "$name" "$(tail -n 1 "$dir/err" | cut -c1-40)"
	fi
	lttng_ends captures
}

"$CC" -I. -D_GNU_SOURCE -std=gnu11 -O2 -g -rdynamic -o "$dir/captures" bench/captures.c
row 'captured' 'ns added' 'floors'
program "$dir/captures"
captured 'a call, recorded' int -f bench_int
captured 'left out by -t' int -f bench_int -t 1s
captured 'one integer' int -f bench_int -A 'bench_int(number:int)'
captured 'one integer, and the result' int -f bench_int -a
captured 'two integers, and the result' ints -f bench_ints -a
captured '32 bytes of text on the stack' stack_text -f bench_text -A 'bench_text(text:str)'
captured '32 bytes of text on the heap' heap_text -f bench_text -A 'bench_text(text:str)'
captured 'a condition that fails: number' int -f bench_int -w 'number == -1'
captured 'a condition that holds: number' int -f bench_int -w 'number != -1'
captured 'one that fails: text, stack' stack_text -f bench_text -w 'str(text) == "x"'
captured 'one that fails: text, heap' heap_text -f bench_text -w 'str(text) == "x"'
captured 'a stack of 8 callers' deep -f bench_int --stack=8
captured 'a place for tracers' mark --usdt captures:number
with_bpftrace_plain() { measure "$2"; PLAIN=$NS; with_bpftrace "$@"; }
with_bpftrace_plain 'bpftrace: one integer' int "uprobe:$dir/captures:bench_int { @ = arg0; }"
with_bpftrace_plain 'bpftrace: 32 bytes of text' heap_text "uprobe:$dir/captures:bench_text { @ = str(arg0); }"
with_bpftrace_plain 'bpftrace: a condition that fails' int "uprobe:$dir/captures:bench_int /arg0 == 5000/ { @ = count(); }"
with_bpftrace_plain 'bpftrace: a stack of 8 callers' deep "uprobe:$dir/captures:bench_int { @[ustack(8)] = count(); }"
with_bpftrace_plain 'bpftrace: a place for tracers' mark "usdt:$dir/captures:captures:number { @ = arg0; }"
program_ends
with_events 'LTTng-UST: one integer' int
with_events 'LTTng-UST: 32 bytes of text' heap_text
echo '(of LTTng-UST one event a call, compiled in; of bpftrace one probe a call: ns in all)'

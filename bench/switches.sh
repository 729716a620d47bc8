#!/bin/bash
# SPDX-License-Identifier: MIT
# switches: what does --off-cpu add to a switch between two threads, and to the making of one? Of
# each the processor time of the process, in ns.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "$0")/lib.sh"

"$CC" -O2 -D_GNU_SOURCE -o "$dir/switches" bench/switches.c -lpthread
program "$dir/switches"

# What it has printed since the file was cut off, before which there is nothing now.
lines() { tr -d '\0' <"$dir/out" | grep '^[0-9]'; }

# rounds NAME [INJECT-ARG...]: the second line from now on is all of that time.
rounds()
{
	local name=$1 tracer=

	shift
	if [ $# -gt 0 ]; then
		"$BUILD/inject" -p "$PROGRAM" -f never -o /dev/null "$@" 2>"$dir/err" 9>&- &
		tracer=$!
		pids+=("$tracer")
		wait_line '^inject: paused' "$dir/err" $tracer
	fi
	: >"$dir/out"
	until [ "$(lines | wc -l)" -ge 2 ]; do sleep 0.2; done
	lines | awk -v name="$name" 'NR == 2 { printf "%-28s %12s %12s\n", name, $1, $2 }'
	[ -z "$tracer" ] || { kill -INT "$tracer"; wait "$tracer" || true; }
}

printf '%-28s %12s %12s\n' "" "a switch" "a thread"
rounds "not traced"
rounds "traced" -v
rounds "traced, with --off-cpu" --off-cpu

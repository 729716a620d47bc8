#!/bin/bash
# SPDX-License-Identifier: MIT
# decode: how many events a second do those verbs take that read a recording from its
# begin to its end? Of processor time, of one processor: they use no more. The recording
# is a short one of three threads, repeated to 400 MB.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "$0")/lib.sh"

BYTES=400000000
spin=$BUILD/tests/victims/spin_threads

repeat=$BUILD/tests/tools/repeat
for program in "$spin" "$repeat"; do
	[ -x "$program" ] || { echo "bench: $program is not there: make victims" >&2; exit 1; }
done
"$CC" -D_GNU_SOURCE -std=gnu11 -O2 -o "$dir/spent" bench/spent.c
program "$spin" 3
"$BUILD/inject" record -q -p "$PROGRAM" -f 'spin_*' -d 20 --max-size 8M -o "$dir/small" \
	>/dev/null 2>"$dir/err" || { cat "$dir/err" >&2; exit 1; }
program_ends
"$repeat" "$dir/small" "$dir/large" $BYTES >"$dir/repeat" ||
	{ cat "$dir/repeat" >&2; exit 1; }
# Of the long one the metadata are those of the short one.
told() { "$BUILD/inject" info "$dir/$1" | sed -n "s/^$2\t//p"; }
events=$(($(told small events) * ($(told large bytes) / $(told small bytes))))

printf '%-34s %10s %10s %10s %14s\n' 'a recording is read' events seconds MiB 'million a s'
# read_all NAME ARG...: by that verb.
read_all()
{
	local name=$1 seconds mib

	"$dir/spent" "$BUILD/inject" "${@:2}" >/dev/null 2>"$dir/err" ||
		{ cat "$dir/err" >&2; return 1; }
	read -r _ seconds mib < <(tail -n 1 "$dir/err")
	printf '%-34s %10s %10s %10s %14s\n' "$name" "$events" "$seconds" "$mib" \
		"$(awk -v n="$events" -v s="$seconds" 'BEGIN { printf "%.1f", n / s / 1e6 }')"
}
read_all 'replay to /dev/null' replay "$dir/large" -o /dev/null
read_all 'report' report "$dir/large"
read_all 'graph' graph "$dir/large"
read_all 'export --to folded' export --to folded "$dir/large"

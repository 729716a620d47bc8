#!/bin/bash
# SPDX-License-Identifier: MIT
# scale: does a call cost more where more functions are probed or more threads run, and
# is anything lost at a steady pace? Tables, and plots in BUILD/bench/*.svg.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "$0")/lib.sh"

THREADS="1 2 4 8 16 32 64"

# point TABLE COMMAND N GLOB: not traced, the floor, the same recording compiled in, and
# with inject on these functions.
point()
{
	local plain floor compiled tracer
	local table=$1 command=$2 n=$3 glob=$4 name="$2 $3${5:-}"

	measure "$command $n"
	plain=$NS floor=$FLOOR compiled=$COMPILED
	"$BUILD/inject" -p "$PROGRAM" -f "$glob" -o /dev/null 2>"$dir/err" 9>&- &
	tracer=$!
	pids+=("$tracer")
	wait_line '^inject: paused' "$dir/err" $tracer || {
		row "$name" - "$(tail -n 1 "$dir/err")"
		return 0
	}
	measure "$command $n"
	kill -INT $tracer
	wait $tracer || true
	printf '%s %s %s %s %s\n' "$n" "$plain" "$floor" "$NS" "$compiled" >>"$table"
	printf '%-28s %10s %10s %10s %10s %8s %s\n' "$name" "$plain" "$floor" "$compiled" "$NS" \
		"$(awk -v n="$NS" -v p="$plain" -v f="$floor" \
			'BEGIN { printf((f - p > 1) ? "%.2f" : "-", (n - p) / (f - p + 1e-9)) }')" \
		"$(grep -q ', 0 lost' "$dir/err" || echo "$(lost_share) % lost")"
}

# plot TABLE X FILE: four lines over a logarithmic axis.
plot()
{
	awk -v label="$2" '
	function x(n) { return 60 + (most > 1 ? log(n) / log(most) : 0) * 500 }
	function y(ns) { return 320 - ns / top * 280 }
	function line(k, color, name,    i, points) {
		for (i = 1; i <= rows; i++)
			points = points sprintf("%.1f,%.1f ", x(v[i, 1]), y(v[i, k]))
		printf "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"%s\"/>\n",
			color, points
		printf "<text x=\"80\" y=\"%d\" fill=\"%s\">%s</text>\n", 20 + 16 * (k - 2),
			color, name
	}
	{ rows++; for (i = 1; i <= 5; i++) v[rows, i] = $i
	  most = $1 > most ? $1 : most
	  for (i = 2; i <= 5; i++) top = $i > top ? $i : top }
	END {
		print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"600\" height=\"370\" " \
			"font-family=\"monospace\" font-size=\"12\">"
		print "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
		for (i = 0; i <= 4; i++)
			printf "<text x=\"50\" y=\"%.1f\" text-anchor=\"end\">%.0f</text>\n",
				y(top * i / 4) + 4, top * i / 4
		for (i = 1; i <= rows; i++)
			printf "<text x=\"%.1f\" y=\"340\" text-anchor=\"middle\">%s</text>\n",
				x(v[i, 1]), v[i, 1]
		print "<path d=\"M60 40V320H570\" fill=\"none\" stroke=\"#000\"/>"
		printf "<text x=\"310\" y=\"360\" text-anchor=\"middle\">%s</text>\n", label
		print "<text x=\"10\" y=\"20\">ns</text>"
		line(2, "#888", "not traced")
		line(3, "#c60", "floor: two time stamps, two stores")
		line(4, "#06c", "inject, entry and exit")
		line(5, "#080", "the same compiled in")
		print "</svg>"
	}' "$1" >"$3"
	echo "    (plotted in $3)"
}

# table TITLE COMMAND FILE: for so many functions.
functions()
{
	local points=$dir/$2.points

	: >"$points"
	point "$points" "$2" 1 scale_0000
	point "$points" "$2" 10 'scale_000?'
	point "$points" "$2" 100 'scale_00??'
	point "$points" "$2" 1000 'scale_0???'
	point "$points" "$2" 10000 'scale_*'
	[ ! -s "$points" ] || plot "$points" "$1" "$BUILD/bench/$2.svg"
	point "$dir/apart" "$2" 100 'scale_*' ' of 10000 probed'
}

threads()
{
	local n points=$dir/threads.points

	: >"$points"
	for n in $THREADS; do
		point "$points" threads "$n" scale_0000
	done
	[ ! -s "$points" ] || plot "$points" 'threads' "$BUILD/bench/threads.svg"
}

# steady THREADS SECONDS: what is lost of a million calls a second and thread, with the
# buffers that inject has unless told otherwise.
steady()
{
	local tracer late

	program "$dir/steady" "$1"
	"$BUILD/inject" record -p "$PROGRAM" -f 'steady_*' -o "$dir/steady.data" 2>"$dir/err" 9>&- &
	tracer=$!
	pids+=("$tracer")
	wait_line '^inject: paused' "$dir/err" $tracer || { cat "$dir/err"; return; }
	echo "run $2" >&9
	until grep -q '^made' "$dir/out"; do
		sleep 1
		kill -0 "$PROGRAM"
	done
	late=$(sed -n 's/^made .* late //p' "$dir/out")
	kill -INT $tracer
	wait $tracer || true
	printf '%-24s %s (a thread was late by %s ms)\n' "$1 threads, $2 s" \
		"$(sed -nE 's/.*; ([0-9]+ calls; [0-9]+ events recorded, [0-9]+ lost).*/\1/p' \
			"$dir/err")" "$late"
	program_ends
	rm -rf "$dir/steady.data"
}

mkdir -p "$BUILD/bench"
"$CC" -I. -D_GNU_SOURCE -std=gnu11 -O2 -rdynamic -pthread -o "$dir/scale" bench/scale.c
"$CC" -I. -D_GNU_SOURCE -std=gnu11 -O2 -rdynamic -pthread -o "$dir/steady" bench/steady.c
program "$dir/scale"
printf '%-28s %10s %10s %10s %10s %8s\n' 'ns of a call' 'not traced' floor \
	'compiled' inject ratio
functions 'functions called in turn' functions
functions 'functions called in turn, caches full of something else' cold
threads
program_ends
printf '\na million calls a second and thread, recorded\n'
for n in 1 2 4; do
	steady "$n" "${STEADY:-60}"
done

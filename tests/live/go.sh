#!/bin/bash
# SPDX-License-Identifier: MIT
# go: all functions of Go are probed but a few, whether they ask for room on their stack
# or may have eight bytes of it left, in a program that goes on through many visits.
# Calls are told as the program counts them: of goroutines whose stacks move and which
# change threads, of panics, of chains of calls as deep as the linker lets them be, and
# of the C functions that they call.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ -x "$VICTIMS/goroutines" ] || skip "no Go compiler here"
need jq

# How many of its functions are refused for its names, for other reasons, and not at all.
read -r named others probed < <("$INJECT" list "$VICTIMS/goroutines" -f '*@exe' |
	awk -F'\t' '$5 != "refused" { n++ } $6 == "reserved" { r++ }
		$5 == "refused" && $6 != "reserved" { o++ } END { print r + 0, o + 0, n + 0 }')
[ "$named" -le 4 ] || die "$named functions refused by name"
# On arm64 also those that C calls, and some that reach memory all the time.
share=1000
[ "$(uname -m)" != aarch64 ] || share=100
[ $((share * others)) -le "$probed" ] || die "$others functions refused of $probed"

# all_told CALLS: of each its entry and its exit was recorded, or lost.
all_told()
{
	local events lost

	events=$(closing events) lost=$(closing lost)
	[ $((2 * $1)) = $((events + lost)) ] || die "made $1 calls, events $events, lost $lost"
}

victim goroutines
for _ in 1 2 3 4 5; do
	inject_bg -p "$VICTIM" -f '*' -f '*@libc.so*' -o /dev/null
	tell 'run 1000' '^made' 60 >/dev/null
	inject_end
	removed
done
inject_bg -p "$VICTIM" -f c_work -o /dev/null
made=$(tell 'run 20000' '^made' 60 | cut -d' ' -f2)
inject_end
removed
all_told "$made"

# Times are of calls of Go's and of C's, nested as they are. Beside other work some may be
# lost: then once more.
for _ in 1 2 3 4 5 6; do
	inject_bg hist -p "$VICTIM" -f c_work -f main.last --json
	made=$(tell 'run 20000' '^made' 60 | cut -d' ' -f2)
	tight=$(tell 'tight 100' '^made' 60 | cut -d' ' -f2)
	inject_end
	removed
	has_line 'calls of Go and OCaml are recorded' trace.err || die "not said: $(cat trace.err)"
	all_told $((made + tight))
	[ "$(closing lost)" != 0 ] || break
done
[ "$(closing lost)" = 0 ] || die "calls were lost"
jq -es --argjson made "$made" --argjson tight "$tight" \
	'map(select(.type == "hist")) | map({ (.func): . }) | add |
	 .c_work.timed == $made and .c_work.calls == $made and
	 ."main.last".calls == $tight and ."main.last".timed == $tight and
	 all(.[]; .total_ns > 0 and .self_ns <= .total_ns and .max_ns <= .total_ns)' trace.out >/dev/null ||
	die "made $made and $tight: $(cat trace.out)"

# What comes while it cannot be read is lost, and counted, entries and exits.
inject_bg hist -p "$VICTIM" -f main.last --json
kill -STOP "$TRACER"
tight=$(tell 'tight 300' '^made' 60 | cut -d' ' -f2)
kill -CONT "$TRACER"
inject_end
removed
[ "$(closing lost)" -gt 0 ] || die "nothing was lost"
all_told "$tight"

# Of four in a chain the last has eight bytes left, and its first instruction may fault.
inject_bg -p "$VICTIM" -f main.last -o /dev/null
made=$(tell 'tight 100' '^made' 60 | cut -d' ' -f2)
inject_end
removed
events=$(closing events) lost=$(closing lost)
[ $((2 * made)) = $((events + lost)) ] || die "made $made calls, events $events, lost $lost"

# All of it at once, and a thousand signals a second of each processor's time.
tell 'profile 1000' '^profiling' >/dev/null
inject_bg -p "$VICTIM" -f '*' -o /dev/null
tell 'tight 10' '^made' 120 >/dev/null
inject_end
tell 'profile 0' '^profiling' >/dev/null
removed

# A thread that C made has no g once its call of Go is over.
inject_bg -p "$VICTIM" -f 'runtime.*' -o /dev/null
tell 'ask 20' '^asked' 60 >/dev/null
inject_end
removed

# 300 calls deep each; of 20 falls one half is 7 calls deep, the other 8.
inject_bg -p "$VICTIM" -f main.descend -f main.catch -f main.fall --json -o calls.json
made=$(tell 'descend 5' '^descended' 60 | cut -d' ' -f2)
tell 'fall 20' '^fallen' 60 >/dev/null
inject_end
removed
events=$(closing events) lost=$(closing lost)
[ $((2 * made + 2 * 20 + 150)) = $((events + lost)) ] ||
	die "made $made calls, events $events, lost $lost"
[ "$lost" = 0 ] || skip "calls were lost: it is not known which"
want="main.catch 0 return: 20
main.descend 0 to 300 return: $made
main.fall 1 to 8 unwound: 150"
got=$(jq -rs '[.[] | select(.type == "call")] | group_by(.func)[] |
	(map(.depth) | min) as $least | (map(.depth) | max) as $most |
	"\(.[0].func) \($least)\(if $most > $least then " to \($most)" else "" end) " +
	"\(map(.end) | unique | join(" ")): \(length)"' calls.json)
[ "$got" = "$want" ] || die "traced $got, not $want"

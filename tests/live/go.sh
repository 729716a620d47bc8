#!/bin/bash
# SPDX-License-Identifier: MIT
# go: functions of Go are probed if they ask for room on their stack, and the others
# refused by that name, in a program that goes on through many visits. Calls are told
# as the program counts them: of goroutines whose stacks move and which change
# threads, of panics, and of the C functions that they call.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ -x "$VICTIMS/goroutines" ] || skip "no Go compiler here"
need jq

# How many of its functions are refused as Go's, for other reasons, and not at all.
read -r go others probed < <("$INJECT" list "$VICTIMS/goroutines" -f '*@exe' |
	awk -F'\t' '$5 != "refused" { n++ } $6 == "go" { g++ } $5 == "refused" && $6 != "go" { o++ }
		END { print g + 0, o + 0, n + 0 }')
[ "$probed" -gt $((2 * go)) ] || die "$probed functions probed, $go refused as Go's"
[ "$others" -le 2 ] || die "$others functions refused for other reasons"
strip -o stripped "$VICTIMS/goroutines"
"$INJECT" list "$VICTIMS/goroutines" -f '*@exe' | awk '$NF == "go" { print $1 }' | sort >of_go
"$INJECT" list stripped -f '*' | awk '$(NF - 1) != "refused" && $5 != "refused" { print $1 }' | sort >named
[ "$(comm -12 of_go named)" = "" ] || die "of a stripped file, functions are probed that have no room"

victim goroutines
status 3 "$INJECT" -p "$VICTIM" -f main.spin
has_line 'refused main.spin: of Go, and does not ask' trace.err || die "no word of Go"
victim_works
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
events=$(closing events) lost=$(closing lost)
[ $((2 * made)) = $((events + lost)) ] || die "made $made calls, events $events, lost $lost"

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
[ "$lost" = 0 ] || skip "calls were lost: nobody can say which"
want="main.catch 0 return: 20
main.descend 0 to 300 return: $made
main.fall 1 to 8 unwound: 150"
got=$(jq -rs '[.[] | select(.type == "call")] | group_by(.func)[] |
	(map(.depth) | min) as $least | (map(.depth) | max) as $most |
	"\(.[0].func) \($least)\(if $most > $least then " to \($most)" else "" end) " +
	"\(map(.end) | unique | join(" ")): \(length)"' calls.json)
[ "$got" = "$want" ] || die "traced $got, not $want"

#!/bin/bash
# SPDX-License-Identifier: MIT
# go: functions of Go are refused by that name, stripped or not, in a program that
# goes on through many visits; the C functions that it calls are traced, and every
# call of them is counted.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ -x "$VICTIMS/goroutines" ] || skip "no Go compiler here"

# refusals FILE: how many functions of it are refused, and how many as Go's.
refusals()
{
	"$INJECT" list "$1" -f '*' 2>&1 >/dev/null |
		sed -nE 's/.*; ([0-9]+) refused \(([0-9]+) go.*/\1 \2/p'
}

read -r refused go < <(refusals "$VICTIMS/goroutines")
[ "$go" -gt 1000 ] || die "$go functions are Go's"
[ "$refused" = "$go" ] || die "$refused refused, $go of them Go's"
strip -o stripped "$VICTIMS/goroutines"
"$INJECT" list "$VICTIMS/goroutines" -f '*@exe' | awk '$NF == "go" { print $1 }' | sort >of_go
"$INJECT" list stripped -f '*' | awk '$(NF - 1) != "refused" && $5 != "refused" { print $1 }' | sort >probed
[ "$(comm -12 of_go probed)" = "" ] || die "of a stripped file, functions of Go are probed"

victim goroutines
status 3 "$INJECT" -p "$VICTIM" -f 'main.*'
has_line 'refused main.deep: compiled by Go' trace.err || die "no word of Go"
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

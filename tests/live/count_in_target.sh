#!/bin/bash
# SPDX-License-Identifier: MIT
# count_in_target: `inject count` has each call of a program once, at full speed, of
# threads that have ended, too, and with --follow-fork of children. It ends by -n, by
# the end of the target, and beside traces of the same functions before and after.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need jq

# calls_of FUNCTION: as the table has it; nothing is 0.
calls_of() { awk -v f="$1" '$2 == f { n = $1 } END { print n + 0 }' trace.out; }

counted_exactly()
{
	inject_bg count -p "$VICTIM" -f 'count_*' "${@:2}"
	tell "$1" "^ok $1" >/dev/null
	sleep 0.5
	made=$(tell end '^counted' | cut -d' ' -f2)
	inject_end
	removed
	[ "$(closing calls)" = "$made" ] || die "$(closing calls) calls, not $made"
	[ "$(closing events) $(closing lost)" = "0 0" ] || die "events: $(tail -n 1 trace.err)"
	[ "$made" -gt 0 ] || die "no calls made"
}

victim spin_threads 3
for mode in pace count; do
	counted_exactly $mode
	# A round is one count_frame, one count_tail, three count_leaf.
	leaf=$(calls_of count_leaf) frame=$(calls_of count_frame)
	[ "$leaf $(calls_of count_tail)" = "$((3 * frame)) $frame" ] || die "$(cat trace.out)"
	[ $((leaf + 2 * frame)) = "$made" ] || die "the table is not what the closing line says"
done
# The same functions in another way: their stubs are not these.
for way in "trace --entry-only" count "trace --entry-only"; do
	read -ra words <<<"$way"
	status 0 "$INJECT" "${words[@]}" -p "$VICTIM" -f 'spin_*' -n 100 -d 20 -o /dev/null
	[ "$(closing calls)" -ge 100 ] || die "$way: $(closing calls) calls"
	removed
done
counted_exactly pace --json
jq -es --argjson made "$made" '.[0].type == "start" and .[-1].type == "summary" and
	(.[1:-1] | all(.type == "count" and .module == "spin_threads") and
	 (map(.calls) | . == (sort | reverse) and add == $made))' trace.out >/dev/null ||
	die "JSON: $(cat trace.out)"
inject_bg count -p "$VICTIM" -f 'spin_*' -o calls.txt
progress >/dev/null
tell quit '^bye$' >/dev/null
WANT=4 inject_wait
grep -q spin_leaf calls.txt || die "the calls of one that has ended are missing"
rm victim.in

# Each thread lives for some calls only; many more of them than there are rings.
victim churn 4
inject_bg count -p "$VICTIM" -f 'churn_*' --json
gets_on 3000
inject_end
removed
jq -es 'map(select(.type == "count") | { (.func): .calls }) | add |
	.churn_work > 3000 * 20 and (.churn_inner - 2 * .churn_work | fabs) <= 16' \
	trace.out >/dev/null || die "calls of threads that have ended: $(cat trace.out)"
[ "$(closing lost)" = 0 ] || die "calls were lost"
victim_quit

# Children, half of which are followed, and make 99 calls of the outer function each.
victim forker
inject_bg count -p "$VICTIM" -f 'fork_*' --follow-fork --json
one=$(tell fork '^child' | cut -d' ' -f2)
gets_on 100
inject_end
removed
clean "$one"
jq -es 'map(select(.type == "count") | { (.func): .calls }) | add |
	.fork_outer > 1000 and .fork_inner >= 2 * .fork_outer - 8' \
	trace.out >/dev/null || die "calls of children: $(cat trace.out)"
tell reap "^reaped" >/dev/null

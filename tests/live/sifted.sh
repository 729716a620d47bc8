#!/bin/bash
# SPDX-License-Identifier: MIT
# sifted: with -t each call that takes so long is told, none that does not, and nothing is lost by
# the others, live and in a recording, with values, too; a call that hangs is shown while it does;
# -D tells so many levels, and records no more.
# timeout: 600
# shellcheck disable=SC2016 # $n is of jq
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need jq

# judge FILE: calls of it by what the victim has measured, in ANSWER.
judge()
{
	jq -es --argjson inner "${ANSWER[1]}" --argjson outer "${ANSWER[2]}" \
		'[.[] | select(.type == "call")] |
		 map(select(.func == "step_sleeps" or .func == "outer_round")) as $long |
		 # Of what is left it is known later that it was; a short one may have had to wait.
		 all(.[]; .dur_ns >= 5000000 and (.end == "return" or .func == "step_leaves")) and
		 ($long | length) >= $inner and ($long | length) <= $outer' "$1" >/dev/null ||
		die "not so for $1, ${ANSWER[*]}: $(grep -c '"call"' "$1") calls"
}

victim sifted
for way in "" "-a"; do
	# shellcheck disable=SC2086 # words
	inject_bg trace -p "$VICTIM" -f 'step_*' -f 'outer_*' -t 5ms --json $way
	read -ra ANSWER <<<"$(tell run '^run ')"
	inject_end
	removed
	judge trace.out
	[ "$(closing lost)" = 0 ] || die "lost: $(tail -n 1 trace.err)"
	[ "$(closing calls)" -lt "$((ANSWER[3] / 100))" ] || die "all is recorded: $(closing calls)"
done
# The argument as it was, and the result.
jq -es '[.[] | select(.func == "step_sleeps")] | length >= 40 and
	all(.[]; (.args.us | tonumber) >= 6000 and .ret == "-" + .args.us)' trace.out >/dev/null ||
	die "values: $(grep step_sleeps trace.out | head -n 3)"

inject_bg record -p "$VICTIM" -f 'step_*' -f 'outer_*' -t 5ms -o sifted.data
read -ra ANSWER <<<"$(tell run '^run ')"
inject_end
removed
"$INJECT" replay --json sifted.data >replayed
judge replayed
[ "$("$INJECT" report sifted.data | awk '$NF == "step_sleeps" { print $5 }')" = 40 ] ||
	die "report: $("$INJECT" report sifted.data)"
if command -v babeltrace2 >/dev/null; then
	babeltrace2 sifted.data >events || die "babeltrace2"
	grep -q 'begun: .*begin = ' events || die "no begun in $(head -n 3 events)"
fi

# Three that hang, the outermost first, shown before they end, and once.
inject_bg trace -p "$VICTIM" -f 'hang_*' -t 50ms
tell hang '^hang$' >/dev/null
wait_until 30 has_line 'hang_here() {$' trace.out || die "what hangs is not shown"
wait_until 30 eval '[ "$(grep -c "hang_here() {" trace.out)" = 3 ]'
tell free '^free$' >/dev/null
inject_end
removed
[ "$(grep -c 'hang_here() {' trace.out)" = 3 ] || die "shown twice: $(cat trace.out)"
[ "$(grep -c '} /\* hang_here \*/' trace.out)" = 3 ] || die "not closed: $(cat trace.out)"
# With what each was given; and with all callers, which are known at its end, then.
for more in '' --stack; do
	inject_bg trace -p "$VICTIM" -f 'hang_*' -t 50ms -a $more
	tell hang '^hang$' >/dev/null
	[ -n "$more" ] || for n in 0 1 2; do
		wait_until 30 has_line "hang_here(n=$n) {\$" trace.out || die "not shown: $(cat trace.out)"
	done
	sleep 0.3
	tell free '^free$' >/dev/null
	inject_end
	removed
	for n in 0 1 2; do
		[ "$(grep -c "hang_here(n=$n)" trace.out)" = 1 ] || die "$more: $(cat trace.out)"
	done
	[ "$(grep -c 'hang_here' trace.out)" -ge 3 ] || die "$more: $(cat trace.out)"
done
# And what is open at the end.
inject_bg trace -p "$VICTIM" -f 'hang_*' -t 1ms
tell hang '^hang$' >/dev/null
sleep 0.05
inject_end
removed
[ "$(grep -c 'still open' trace.out)" = 3 ] || die "open: $(cat trace.out)"
tell free '^free$' >/dev/null

inject_bg record -p "$VICTIM" -f 'step_*' -f 'outer_*' -D 1 -o flat.data
tell run '^run ' >/dev/null
inject_end
removed
[ "$(closing calls) $(closing lost)" = "1600 0" ] || die "-D 1: $(tail -n 1 trace.err)"

#!/bin/bash
# SPDX-License-Identifier: MIT
# conditions: with -w those calls are told that a condition holds for, by their arguments at the
# entry, by what they return and how long they take, by caller, depth and chance, and no others; none is
# lost, whatever their number. A condition that is wrong is shown where.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need jq

# passed EXPR [OPTION...]: how many calls of the victim's pass, of four times 400 rounds.
passed()
{
	inject_bg trace -p "$VICTIM" -f 'step_*' --json -w "$1" "${@:2}"
	tell run '^run ' >/dev/null
	inject_end
	removed
	[ "$(closing lost)" = 0 ] || die "$1: $(tail -n 1 trace.err)"
	jq -s '[.[] | select(.type == "call")] | length' trace.out
}

# expect N EXPR [OPTION...]
expect()
{
	local n

	n=$(passed "${@:2}")
	[ "$n" = "$1" ] || die "$2: $n calls, not $1"
}

victim sifted
expect 1600 'i == 7'
jq -es '[.[] | select(.type == "call")] | all(.[]; .func == "step_short" and (has("args") | not))' \
	trace.out >/dev/null || die "$(head -n 3 trace.out)"
expect 1600 'i == 7 && retval == 8' -a
jq -es '[.[] | select(.type == "call")] | all(.[]; .args.i == "7" and .ret == "8")' trace.out \
	>/dev/null || die "$(head -n 3 trace.out)"
expect 0 'i == 7 && retval == 7'
expect 1600 'i == 7' --entry-only -a
for when in 'i == 7 && retval == 8' 'duration > 1us' 'depth == 1'; do
	status 1 "$INJECT" trace -p "$VICTIM" -f 'step_*' --entry-only -a -w "$when"
	refused '-w asks for .*--entry-only'
done
expect 8 'us > 6300 && retval < 0'
expect 8 'us >= 6320 && duration > 6ms && caller == outer_round'
expect 0 'us >= 6320 && caller != "outer_*"'
expect 1600 'caller == "outer_*" && i == 5'
expect 1600 'i == 3 && depth == 1' -t 1ns
cpu=$(($(nproc) - 1))
taskset -a -c -p $cpu "$VICTIM" >/dev/null
expect 1600 "i == 3 && cpu == $cpu"
expect 0 "i == 3 && cpu != $cpu"
n=$(passed 'i >= 0 && 1 in 1000')
[ "$n" -gt 1300 ] && [ "$n" -lt 1900 ] || die "1 in 1000: $n of 1600000"

# A function that has no such argument is refused, and named if it is asked for.
grep -q 'refused .*: it has no such value as the condition of -w asks for' trace.err ||
	die "$(cat trace.err)"
inject_bg record -p "$VICTIM" -f 'step_*' -w 'retval < -6300' -a -o when.data
tell run '^run ' >/dev/null
inject_end
removed
"$INJECT" replay --json when.data >replayed
jq -es '[.[] | select(.type == "call")] | length == 8 and all(.[]; (.args.us | tonumber) > 6300)' \
	replayed >/dev/null || die "replayed: $(cat replayed)"

# What a thread is called, as far as inject has told it; also when that changes.
read -r _ red blue <<<"$(tell paint '^paint ')"
tids() { jq -rs "$1"' | map(.tid) | unique | join(" ")' trace.out; }
calls='[.[] | select(.type == "call")]'
inject_bg trace -p "$VICTIM" -f step_named --json -w 'comm == "blue" || comm == "green"'
wait_until 30 grep -q '"call"' trace.out || die "no blue calls"
[ "$(tids "$calls")" = "$blue" ] || die "called blue: $(tids "$calls"), not $blue"
tell paint '^paint ' >/dev/null
wait_until 30 grep -q "\"tid\":$red," trace.out || die "no green calls"
inject_end
removed
[ "$(closing lost)" = 0 ] || die "lost: $(tail -n 1 trace.err)"
inject_bg trace -p "$VICTIM" -f step_named --json -w 'comm != "blue"'
wait_until 30 grep -q '"call"' trace.out || die "no other calls"
inject_end
removed
[ "$(tids "$calls")" = "$red" ] || die "not called blue: $(tids "$calls"), not $red"
tell wash '^wash ' >/dev/null
status 1 "$INJECT" start -p "$VICTIM" -f step_named -w 'comm == "blue"'
has_line 'comm, which inject tells threads as long as it is there' trace.err || die "$(cat trace.err)"

status 2 "$INJECT" -p "$VICTIM" -f 'step_*' -w 'i >'
has_line '^inject:     i >$' trace.err || die "no text: $(cat trace.err)"
has_line '^inject:        ^$' trace.err || has_line '\^$' trace.err || die "no column: $(cat trace.err)"
status 1 "$INJECT" -p "$VICTIM" -f 'step_*' -w 'length > 4'
has_line "no argument 'length'" trace.err || die "not named: $(cat trace.err)"
status 1 "$INJECT" -p "$VICTIM" -f 'step_*' -w 'caller == no_such'
has_line "no function 'no_such' is known" trace.err || die "not named: $(cat trace.err)"
unharmed
victim_quit

# deep EXPR: the victim makes 100001 calls, each but one inside of another. Each that is told has an
# end.
deep()
{
	inject_bg trace -p "$VICTIM" -f 'deep_*' --json -w "$1"
	tell deep '^deep ' >/dev/null
	inject_end
	removed
	jq -es '[.[] | select(.type == "call")] | all(.[]; .end == "return")' trace.out >/dev/null ||
		die "$1: $(grep '"call"' trace.out | grep -v return | head -n 3)"
}

victim recursion
# Those that fail are counted in the depth of others.
deep 'depth == 5'
[ "$(closing calls) $(closing lost)" = "1 0" ] || die "depth 5: $(tail -n 1 trace.err)"
deep 'depth <= 3 && n == 99998'
[ "$(closing calls) $(closing lost)" = "1 0" ] || die "depth 3: $(tail -n 1 trace.err)"
deep 'depth <= 2 && n == 99998'
[ "$(closing calls) $(closing lost)" = "0 0" ] || die "depth 2: $(tail -n 1 trace.err)"
# What there is no room for is lost, and has no end.
deep 'n < 200000'
[ "$(closing calls)" -gt 1000 ] && [ "$(($(closing calls) + $(closing lost)))" = 100001 ] ||
	die "deep: $(tail -n 1 trace.err)"
unharmed

#!/bin/bash
# SPDX-License-Identifier: MIT
# small_stacks: fibers whose stacks are small and lie side by side, more of them than a
# thread has places for. The fibers' own counts are the truth: as many calls of each
# function, none of which began before, nor is counted twice; and but for the first few
# times that two neighbours meet, each with its end, and within as many others as it was.
# (Where two threads look for the same stack at the same moment, one call in ten thousand
# may be missed by both, and its end shown by itself; and two more, where calls are few.
# The outermost call of a fiber may be in neither's hands then, and its stack be taken for
# two from there on: for two fibers, so that of few a large part is shown less deep than it
# was. Or the open calls of its neighbour are taken for its own, and all of its calls are shown
# within these: as much as five deep, which of 40 fibers is 8 % of all.) The same where calls are
# timed: such a call may be timed by none, or by both.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# In calls.json: "tight_deep N tight_hop N tight_leaf N", how deep they all were together,
# how many did not return, and how many began before.
as_traced()
{
	jq -rs '[.[] | select(.type == "call")] |
		def n(f): map(select(.func == f and (.began_before | not))) | length;
		"tight_deep \(n("tight_deep")) tight_hop \(n("tight_hop")) " +
		"tight_leaf \(n("tight_leaf"))",
		(map(.depth) | add), (map(select(.end != "return")) | length),
		(map(select(.began_before)) | length)' calls.json
}

# within A B PERMILLE: so near is A to B.
within() { local d=$(($1 - $2)); [ $((${d#-} * 1000)) -le $(($2 * $3)) ]; }

# run SWITCH MEMORY SIZE FIBERS THREADS
run()
{
	local made calls inside deep cut before got

	victim small_stacks "$@"
	tell 'run 20' '^made' >/dev/null
	inject_bg -p "$VICTIM" -f 'tight_*' --json -o calls.json
	made=$(tell "run $rounds" '^made' 120)
	inject_end INT
	removed
	victim_quit
	if [ "$(closing lost)" != 0 ]; then
		lossy=$((lossy + 1))
		return
	fi
	calls=$(awk '{ print $3 + $5 + $7 }' <<<"$made")
	inside=$(awk '{ print $9 }' <<<"$made")
	{ read -r got; read -r deep; read -r cut; read -r before; } < <(as_traced)
	echo "$*: $made; traced $got inside $deep, $cut without an end, $before without a begin"
	[ "made $got" = "${made% inside*}" ] || die "$*: $got"
	[ "$before" -le $(($5 > 1 ? calls / 10000 + 2 : 0)) ] || die "$*: $before began before"
	[ "$(closing calls)" = "$calls" ] || die "$*: $(closing calls) calls"
	[ "$(closing events)" = $((2 * calls)) ] || die "$*: $(closing events) events"
	[ "$cut" -le $((15 * $4)) ] || die "$*: $cut calls have no end"
	within "$deep" "$inside" $(($5 == 1 ? 50 : $4 < 40 ? 2000 / $4 : 150)) ||
		die "$*: inside $deep"
}

# times SWITCH MEMORY SIZE FIBERS THREADS
times()
{
	local made calls begun timed unwound

	victim small_stacks "$@"
	tell 'run 20' '^made' >/dev/null
	inject_bg hist -p "$VICTIM" -f 'tight_*' --json -o hist.json
	made=$(tell "run $rounds" '^made' 120)
	inject_end INT
	removed
	victim_quit
	calls=$(awk '{ print $3 + $5 + $7 }' <<<"$made")
	read -r begun timed unwound < <(jq -rs 'map(select(.type == "hist")) |
		"\(map(.calls) | add) \(map(.timed) | add) \(map(.unwound) | add)"' hist.json)
	echo "$*: $made; $begun begun, $timed timed, $unwound of them without an end"
	[ "$begun" = "$calls" ] || die "$*: $begun calls"
	within "$timed" "$calls" $(($5 > 1 ? 1 : 0)) || die "$*: $timed timed"
	[ "$unwound" -le $((15 * $4)) ] || die "$*: $unwound calls have no end"
}

need jq
rounds=$(fewer 200 60)
times own mmap 2048 60 1
times own malloc 3000 60 3
lossy=0
run own mmap 2048 16 1
run own malloc 1600 6 3
run own frame 4096 6 1
run own below 8192 10 1
run ucontext array 4096 40 2
run own mmap 2048 60 1
run own malloc 3000 60 3
"$VICTIMS/small_stacks" boost array 2048 1 1 </dev/null >/dev/null && run boost malloc 2064 40 3
[ $lossy = 0 ] || skip "calls were lost in $lossy runs: it is not known which"

#!/bin/bash
# SPDX-License-Identifier: MIT
# migrants: calls that begin in one thread and end in another, on fibers without
# guards between their stacks. The fibers' own counts are the truth: as many
# calls of each function, every one with its end, none without its begin, each
# within as many others as it was.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# The columns of calls.json as "made" has them.
as_traced()
{
	jq -rs '[.[] | select(.type == "call")] |
		def n(f): map(select(.func == f)) | length;
		(map(select(.end != "return")) | length) as $other |
		"mig_deep \(n("mig_deep")) mig_hop \(n("mig_hop")) " +
		"mig_leaf \(n("mig_leaf")) inside \(map(.depth) | add) other \($other)"' calls.json
}

# compare FIBERS ROUNDS: few fibers come back to a thread that has done nothing
# else in the meantime, many make it forget where it was, 48 are more than it has
# places for.
compare()
{
	local made want got moved

	victim migrants "$1"
	tell 'run 20' '^made' >/dev/null
	inject_bg -p "$VICTIM" -f 'mig_*' --json -o calls.json
	made=$(tell "run $2" '^made' 40)
	inject_end
	removed
	victim_quit
	[ "$(closing lost)" = 0 ] || skip "calls were lost: it is not known which"
	moved=${made##* }
	[ "$moved" -gt 100 ] || skip "the fibers stayed in their threads ($moved moves)"
	want="$(sed 's/^made //; s/ moved .*//' <<<"$made") other 0"
	got=$(as_traced)
	[ "$got" = "$want" ] || die "$1 fibers, $moved moves: traced $got, made $want"
}

# Where the target adds up how long calls take, the thread that sees them end may never have
# seen one begin.
# times FIBERS
times()
{
	local made want got

	victim migrants "$1"
	inject_bg hist -p "$VICTIM" -f 'mig_*' --json -o hist.json
	made=$(tell 'run 1' '^made' 40)
	inject_end
	removed
	victim_quit
	want=$(sed 's/^made //; s/ inside .*//' <<<"$made")
	got=$(jq -rs '(map(select(.type == "hist") | {(.func): .timed}) | add) as $timed |
		"mig_deep \($timed.mig_deep) mig_hop \($timed.mig_hop) " +
		"mig_leaf \($timed.mig_leaf)"' hist.json)
	[ "$got" = "$want" ] || die "$1 fibers: timed $got, made $want"
}

need jq
times 12
times 48
compare 48 100
compare 12 300
compare 1 300
compare 2 300

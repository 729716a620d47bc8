#!/bin/bash
# SPDX-License-Identifier: MIT
# profiler: perf, by frame pointers and by unwind tables, sees the same stacks of
# probed functions as without probes. A sample that falls inside of a stub has no
# name there: by frame pointers its callers are the same, by tables it is alone.
# How many do is told.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need perf

# sampled HOW ROUNDS: stacks.txt has a stack a line, innermost function first.
sampled()
{
	local before

	before=$(wc -l <victim.out)
	perf record -q -o perf.data -e cpu-clock:u -F 2000 --call-graph "$1" -t "$VICTIM" -- \
		timeout 120 bash -c "echo spin $2 >&9
			while [ \$(wc -l <victim.out) -le $before ]; do sleep 0.02; done" \
		>perf.err 2>&1 || return 1
	perf script -i perf.data --no-inline -F ip,sym 2>>perf.err |
		awk '/^$/ { if (s) print s; s = ""; next } { s = s $2 " " } END { if (s) print s }' \
		>stacks.txt
}

# Which of them are what they should be: prints how many are whole, and how many
# begin where nothing has a name. The one that is interrupted may not have made its
# frame yet, and a chain of frames then passes over its caller. Now and then perf
# gives up early, without probes, too: of all samples one in ten at most.
judge()
{
	awk -v how="${1%%,*}" '
	BEGIN {
		n = split("prof_leaf prof_mid prof_top command main", chain)
		for (i = 1; i <= n; i++)
			place[chain[i]] = i
	}
	!/prof_/ && $1 != "[unknown]" { next }
	# In the C library, which may have no names for its own functions.
	!/prof_/ && / victim_/ { next }
	{
		at = 0
		ok = 1
		for (unnamed = 0; $(unnamed + 1) == "[unknown]"; unnamed++)
			;
		for (i = 1 + unnamed; i <= NF && at < n; i++) {
			if ($i == "victim_poll")
				continue
			ok = ok && place[$i] > at &&
				(at == 0 || place[$i] == at + 1 || (how == "fp" && i == 2))
			at = place[$i]
		}
	}
	unnamed && how == "dwarf" { inside++; if (NF > unnamed) print "beyond a stub: " $0; next }
	!ok { print "not a stack: " $0; next }
	at < n { early++; next }
	unnamed { inside++; next }
	{ whole++; deep += $1 == "prof_leaf" }
	END {
		if (10 * early > whole + inside)
			print early, "stacks end early"
		print "whole", whole + 0, "deep", deep + 0, "inside", inside + 0
	}' stacks.txt
}

# expect HOW PROBED: what judge says of the stacks is right; some begin in a stub if
# there are any (PROBED is 1).
expect()
{
	judge "$1" >judged.txt
	[ "$(wc -l <judged.txt)" = 1 ] || { sort judged.txt | uniq -c; die "$1: other stacks than there are"; }
	read -r _ _ _ deep _ inside <judged.txt
	echo "$1: $(cat judged.txt)"
	[ "$deep" -gt 0 ] || die "$1: no sample of the innermost function"
	[ $((inside > 0)) = "$2" ] || die "$1: $inside samples where nothing has a name"
}

victim profiled
sampled fp 1000 || { cat perf.err; skip "perf cannot record here"; }
for how in fp dwarf,4096; do
	sampled "$how" 20000
	expect "$how" 0
	inject_bg -p "$VICTIM" -f 'prof_*' -o /dev/null
	sampled "$how" 8000
	expect "$how" 1
	inject_end
	removed
	sampled "$how" 20000
	expect "$how" 0
done

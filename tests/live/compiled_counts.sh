#!/bin/bash
# SPDX-License-Identifier: MIT
# compiled_counts: programs that were built for a tracer and started without
# one: calls made = recorded + lost, with the jump where the compiler left room
# for it, in threads that stand between its nops too.
# timeout: 1000
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

end_victim()
{
	exec 9>&-
	wait "$VICTIM" || die "$variant: the victim failed"
	VICTIM=
	rm -f victim.in gmon.out
}

# Attach to threads that do little else than stand between nops.
churn()
{
	for _ in 1 2 3; do
		status 0 "$INJECT" -p "$VICTIM" -f 'spin_*' -d 0.01 -o /dev/null
		clean
	done
}

# Every call of a phase has an entry and an exit.
exact()
{
	local made

	inject_bg -p "$VICTIM" -f count_leaf -f count_frame -f count_tail -o /dev/null
	[ "$(grep -c refused trace.err)" = 0 ] || die "$variant: refused"
	tell pace "^ok pace" >/dev/null
	victim_works
	made=$(tell end '^counted' | cut -d' ' -f2)
	inject_end
	removed
	[ "$made" -gt 0 ] || die "no calls made"
	[ $((2 * made)) = $(($(closing events) + $(closing lost))) ] ||
		die "$variant: $((2 * made)) events happened, $(closing events) recorded"
}

# How the entries of a variant are probed.
words()
{
	case $1 in
	*fentry* | *nops*) echo site ;;
	gcc_pg | gcc_static_pg) echo site jump ;;	# mcount is behind pushes
	*) echo jump ;;
	esac
}

n=0
for file in "$VICTIMS"/compiled/*-spin_threads; do
	variant=$(basename "$file" -spin_threads)
	"$INJECT" list "$file" -f 'count_*' -f 'spin_*' >list.out 2>list.err
	cut -f 5 list.out | sort -u >words.out
	for word in $(words "$variant"); do
		sed -i "/^$word\$/d" words.out
	done
	[ ! -s words.out ] || die "$variant: entries are probed by $(cat words.out)"
	victim "compiled/$variant-spin_threads" 3
	case $variant in *nops*) churn ;; esac
	exact
	end_victim
	n=$((n + 1))
done
[ $n -ge 10 ] || skip "no compiler made the programs ($n)"

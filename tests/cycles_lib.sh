# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# cycles_lib: attach and detach again and again, to threads that do nothing but
# call the probed functions, and to processes that were never visited. Sourced
# after lib.sh. How far they were is in the file `progress`, shown by a test that fails.

# cycle_exact GLOB: these are called in a phase only, while others of the same
# pages are called all the time.
cycle_exact()
{
	local made

	inject_bg -p "$VICTIM" -f "$1" -o /dev/null --max-pause 2s
	tell pace '^ok pace' >/dev/null
	sleep 0.1
	made=$(tell end '^counted' | cut -d' ' -f2)
	inject_end
	[ "$(closing lost)" = 0 ] || die "cycle $i: lost $(closing lost)"
	[ "$(closing calls)" = "$made" ] || die "cycle $i: $made calls made, $(closing calls) recorded"
}

# cycles N FUNCTIONS BUSY COUNTED: N cycles (50 times as many with SOAK=1) of the
# FUNCTIONS that the globs match; one in ten counts exactly.
cycles()
{
	local i n cycles=$1

	n=$(threads "$VICTIM")
	[ -n "${SOAK:-}" ] && cycles=$((50 * cycles))
	for i in $(seq "$cycles"); do
		if [ $((i % 10)) = 0 ]; then
			cycle_exact "$4"
		else
			status 0 "$INJECT" -p "$VICTIM" -f "$3" -f "$4" -d 0.02 -o /dev/null --max-pause 2s
			[ "$(closing functions)" = "$2" ] ||
				die "cycle $i: $(closing functions) functions probed"
		fi
		has_line 'all probes removed, text verified' trace.err || die "cycle $i: not removed"
		clean
		echo "$i of $cycles cycles" >progress
	done
	victim_works
	[ "$(threads "$VICTIM")" = "$n" ] || die "a thread of ours stayed"
}

# loads N GLOB VICTIM CHECK...: N times (100 times as many with SOAK=1) the payload
# is loaded into a VICTIM that was never visited, and CHECK runs then.
loads()
{
	local i n=$1

	[ -n "${SOAK:-}" ] && n=$((100 * n))
	for i in $(seq "$n"); do
		victim "$3"
		status 0 "$INJECT" -p "$VICTIM" -f "$2" -d 0.05 -o /dev/null --max-pause 2s
		removed
		"${@:4}" || die "load $i: ${*:4}"
		tell quit '^bye' >/dev/null
		rm victim.in
		echo "$i of $n loads" >progress
	done
}

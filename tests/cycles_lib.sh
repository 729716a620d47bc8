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

# What inject may say of a process that it has left alone: try again.
REFUSED_BY_NAME='stands in a safe place[;,]|does not stop|holds the dynamic loader.s lock'

# load GLOB: into the victim, tried again as often as that is refused by name. TRIES is how
# often it was tried.
load()
{
	local got

	for TRIES in 1 2 3 4 5 6 7 8 9 10; do
		got=0
		timeout $((120 * ${PATIENCE:-1})) "$INJECT" -p "$VICTIM" -f "$1" -d 0.05 \
			-o /dev/null --max-pause 2s >trace.out 2>trace.err 9>&- || got=$?
		[ $got != 0 ] || return 0
		[ $got = 1 ] || die "inject ended with status $got"
		grep -qE "$REFUSED_BY_NAME" trace.err || die "neither loaded nor refused by name"
		unharmed
	done
	return 1
}

# loads N GLOB VICTIM [CHECK...]: N times (100 times as many with SOAK=1) the payload
# is loaded into a VICTIM that was never visited, which is unharmed; and CHECK runs then.
loads()
{
	local i n=$1 again=0 refused=0 longest=0 since took loaded

	[ -n "${SOAK:-}" ] && n=$((100 * n))
	for i in $(seq "$n"); do
		victim "$3"
		since=${EPOCHREALTIME/./} loaded=
		load "$2" && loaded=1
		took=$(((${EPOCHREALTIME/./} - since) / 1000))
		[ $took -le $longest ] || longest=$took
		if [ -n "$loaded" ]; then
			removed
			[ $# = 3 ] || "${@:4}" || die "load $i: ${*:4}"
			[ "$TRIES" = 1 ] || again=$((again + 1))
		else
			refused=$((refused + 1))
		fi
		victim_quit
		echo "$i of $n loads, $again of them at a second try or later, $refused refused;" \
			"the longest took $longest ms" >progress
	done
	cat progress
	[ $((refused * 10)) -le "$n" ] || die "too many are refused"
}

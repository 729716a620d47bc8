#!/bin/bash
# SPDX-License-Identifier: MIT
# compiled_hooks: what a program has its compiler arrange goes on while it is
# traced: gmon.out has the same calls, its hooks are called as often, and XRay
# patches and unpatches its sleds as threads run through them.
# timeout: 800
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

ROUNDS=2000
storms=3
[ -z "${SOAK:-}" ] || storms=1000

end_victim()
{
	exec 9>&-
	wait "$VICTIM" || die "$variant: the victim failed"
	VICTIM=
	rm -f victim.in
}

# run: a counted phase; prints what the program's own hooks have seen.
run() { tell "run $ROUNDS" '^ran' | cut -d' ' -f 3-; }

# With probes in: trace.err then has the closing line.
run_traced()
{
	inject_bg -p "$VICTIM" -f 'hook_*' -o /dev/null -m 4M
	run
	inject_end
	verified
}

# XRay leaves parts of a sled as they were when it was on, so the text is not
# that of the file: it is to be what it was.
text()
{
	local from to

	IFS=' -' read -r from to _ < <(grep "r-xp .*/$variant-hooked\$" "/proc/$VICTIM/maps")
	dd if="/proc/$VICTIM/mem" bs=4096 skip=$((0x$from / 4096)) \
		count=$(((0x$to - 0x$from) / 4096)) status=none | sha256sum
}

verified()
{
	has_line 'all probes removed, text verified' trace.err || die "$variant: not removed"
}

gmon()
{
	gprof -b -p "$VICTIMS/compiled/$variant-hooked" gmon.out |
		awk '$NF ~ /^hook_/ { print $NF, $4 }' | sort
}

# -pg: the program itself counts, and says so when it ends.
profiled()
{
	local want counts=yes

	victim "compiled/$variant-hooked"
	run >/dev/null
	end_victim
	# On arm64 clang 14 does not tell mcount what calls it: nothing is counted.
	[ "$variant $(uname -m)" = "clang_pg aarch64" ] && counts=
	want=$(gmon)
	[ -z "$counts" ] || [ "$(wc -l <<<"$want")" = 8 ] || die "$variant: gmon.out says $want"
	victim "compiled/$variant-hooked"
	run_traced >/dev/null
	end_victim
	[ -z "$counts" ] || [ "$(gmon)" = "$want" ] || die "$variant: gmon.out has $(gmon), not $want"
}

# hooks see as much as without probes, and as many calls as we do.
hooked()
{
	local want got before

	victim "compiled/$variant-hooked"
	before=$(text)
	[ "$1" = on ] && { tell on '^ok' >/dev/null; before=$(text); }
	want=$(run)
	got=$(run_traced)
	[ "$got" = "$want" ] || die "$variant: hooks saw $got, not $want"
	[ "$(cut -d' ' -f 2 <<<"$got")" = "$(closing calls)" ] ||
		die "$variant: hooks saw $got, we $(closing calls) calls"
	[ "$(closing lost)" = 0 ] || die "$variant: events were lost"
	[ "$(closing events)" = $((2 * $(closing calls))) ] ||
		die "$variant: $(closing events) events of $(closing calls) calls"
	[ "$(text)" = "$before" ] || die "$variant: the text is not what it was"
	victim_works
	end_victim
}

# XRay comes and goes while the probes are in: they stay, and both see all.
switched()
{
	local got

	victim "compiled/$variant-hooked"
	inject_bg -p "$VICTIM" -f 'hook_*' -o /dev/null -m 4M
	tell on '^ok' >/dev/null
	got=$(run)
	tell off '^ok' >/dev/null
	inject_end
	verified
	[ "$(cut -d' ' -f 2 <<<"$got")" = "$(closing calls)" ] ||
		die "$variant: hooks saw $got, we $(closing calls) calls"
	[ "$(closing events)" = $((2 * $(closing calls))) ] ||
		die "$variant: $(closing events) events of $(closing calls) calls"
	end_victim
}

# XRay rewrites its sleds under threads that run, probes being in, before
# they come, and when they go.
toggled()
{
	local before

	victim "compiled/$variant-hooked" 3
	tell "toggle 1" '^ok' >/dev/null
	before=$(text)
	inject_bg -p "$VICTIM" -f 'hook_*' -o /dev/null
	tell "toggle 10" '^ok' 60 >/dev/null
	tell on '^ok' >/dev/null
	inject_end
	verified
	inject_bg -p "$VICTIM" -f 'hook_*' -o /dev/null
	[ "$(grep -c refused trace.err)" = 0 ] || die "$variant: refused with sleds on"
	tell off '^ok' >/dev/null
	inject_end
	verified
	[ "$(text)" = "$before" ] || die "$variant: the text is not what it was"
	victim_works
	end_victim
}

# stormed THREADS VISITS: XRay comes and goes at random, as visits do. Where no others call, a
# counted phase has each of its calls, whatever is rewritten meanwhile.
stormed()
{
	local before want turns

	victim "compiled/$variant-hooked" "$1"
	tell on '^ok' >/dev/null
	want=$(run | cut -d' ' -f 2)
	tell off '^ok' >/dev/null
	before=$(text)
	tell storm '^ok' >/dev/null
	for ((i = 0; i < $2; i++)); do
		status 0 "$INJECT" -p "$VICTIM" -f 'hook_*' -d 20ms -o /dev/null
		verified
		has_line ' 0 refused; ' trace.err || die "$variant: refused in a storm"
	done
	if [ "$1" = 0 ]; then
		run_traced >/dev/null
		[ "$want $((2 * want)) 0" = "$(closing calls) $(closing events) $(closing lost)" ] ||
			die "$variant: $want calls, we $(closing calls), $(closing events) events"
	fi
	turns=$(tell calm '^calm' | cut -d' ' -f 3)
	[ "$turns" -ge "$2" ] || die "$variant: XRay came and went $turns times only"
	[ "$(text)" = "$before" ] || die "$variant: the text is not what it was"
	victim_works
	end_victim
	echo "$variant: $2 visits, XRay came or went $turns times"
}

n=0
for file in "$VICTIMS"/compiled/*-hooked; do
	variant=$(basename "$file" -hooked)
	case $variant in
	*hooks*) hooked off ;;
	*xray*) hooked on; switched; toggled; stormed 0 "$storms"; stormed 3 "$storms" ;;
	*pg* | *fentry*) need gprof; profiled ;;
	*) continue ;;
	esac
	n=$((n + 1))
done
# On arm64 there is no call before all else (fentry), and a cross compiler has nothing of XRay's.
[ "$(uname -m)" = x86_64 ] && least=5 || least=4
[ "$n" -ge "$least" ] || skip "no compiler made the programs ($n)"

#!/bin/bash
# SPDX-License-Identifier: MIT
# go_static: programs of Go's that use no C, linked statically and for any address, also
# if they are stripped, are traced as those that do: through many visits, by their very
# start, and with calls as they count them, while stacks grow and move, panics are
# recovered from, garbage is collected and threads end. An injector that is killed leaves
# nothing that harms.
# timeout: 1800
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ -x "$VICTIMS/goroutines_static" ] || skip "no Go compiler here"
need jq perl readelf

# adds_up EVENTS: as many were recorded or lost.
adds_up()
{
	local events lost

	events=$(closing events) lost=$(closing lost)
	[ "$1" = $((events + lost)) ] || die "$1 made, events $events, lost $lost"
}

# Everything, again and again.
visit()
{
	for _ in 1 2 3; do
		inject_bg -p "$VICTIM" -f '*' -o /dev/null
		tell 'run 1000' '^made' 120 >/dev/null
		tell 'ask 5' '^asked' 120 >/dev/null
		inject_end
		removed
	done
}

# Another build of inject brings a payload of its own, and finds what the first one's
# has left in the threads.
another()
{
	local INJECT=$INJECT id made build=$BUILD

	id=$(readelf -n "$BUILD/payload.so" | awk '/Build ID/ { print $3 }')
	perl -0777 -pe 'BEGIN { $id = pack("H*", shift); ($new = $id) =~ tr/\0-\xff/\1-\xff\0/ }
		s/\Q$id\E/$new/g' "$id" <"$build/inject" >inject
	chmod +x inject
	cmp -s inject "$build/inject" && die "it is the same build"
	# What is called may be a script, which calls the one of BUILD.
	[ "$INJECT" != "$build/inject" ] || INJECT=$PWD/inject
	local -x BUILD=$PWD
	inject_bg -p "$VICTIM" -f main.work_in_go -o /dev/null
	made=$(tell 'run 5000' '^made' 120 | cut -d' ' -f2)
	inject_end
	removed
	adds_up $((2 * made))
	rm inject
}

# 300 calls deep each; of 20 falls one half is 7 calls deep, the other 8.
count()
{
	local made lost want got

	inject_bg -p "$VICTIM" -f main.descend -f main.catch -f main.fall --json -o calls.json
	made=$(tell 'descend 5' '^descended' 120 | cut -d' ' -f2)
	tell 'fall 20' '^fallen' 120 >/dev/null
	inject_end
	removed
	adds_up $((2 * made + 2 * 20 + 150))
	lost=$(closing lost)
	[ "$lost" = 0 ] || { echo "$lost lost: it is not known which"; return 0; }
	want="main.catch 0 return: 20
main.descend 0 to 300 return: $made
main.fall 1 to 8 unwound: 150"
	got=$(jq -rs '[.[] | select(.type == "call")] | group_by(.func)[] |
		(map(.depth) | min) as $least | (map(.depth) | max) as $most |
		"\(.[0].func) \($least)\(if $most > $least then " to \($most)" else "" end) " +
		"\(map(.end) | unique | join(" ")): \(length)"' calls.json)
	[ "$got" = "$want" ] || die "traced $got, not $want"
}

# It records by itself, and what it holds is taken while it goes on.
alone()
{
	status 0 "$INJECT" start -p "$VICTIM" -f 'main.*'
	tell 'run 100' '^made' 120 >/dev/null
	status 0 "$INJECT" snapshot -p "$VICTIM" -o snapshot
	tell 'ask 5' '^asked' 120 >/dev/null
	victim_works
	status 0 "$INJECT" stop -p "$VICTIM"
	unharmed
	status 0 "$INJECT" report snapshot
	traced main.deep
	rm -r snapshot
}

killed()
{
	inject_bg -p "$VICTIM" -f '*' -o /dev/null
	kill -KILL "$TRACER"
	wait "$TRACER" || true
	victim_works
	tell 'ask 5' '^asked' 120 >/dev/null
	status 0 "$INJECT" stop -p "$VICTIM"
	unharmed
}

# command FILE: from its very start to its end.
command()
{
	local n

	printf 'run 1000\nfall 20\nask 5\nquit\n' |
		"$INJECT" -f main.main -f main.catch -f main.work_in_go -o calls.txt -- "$1" \
		>command.out 2>trace.err 9>&- || die "it ended with status $?"
	grep -q '^bye$' command.out || die "the command did not end by itself"
	! grep -q WRONG command.out || die "the command computed something wrong"
	adds_up $((2 * (4 * 1000 + 20) + 2))
	n=$(closing lost)
	[ "$n" != 0 ] || grep -q 'main.main() {' calls.txt || die "main.main is missing"
}

# Without symbols all names are there, too, but for what is in brackets and a mark of
# assembly.
for kind in static stripped; do
	"$INJECT" list "$VICTIMS/goroutines_$kind" -f '*' 2>/dev/null |
		awk -F'\t' '{ sub(/\.abi0$/, "", $4); sub(/\[.*\]/, "[...]", $4); print $1, $4 }' >"names_$kind"
done
diff names_static names_stripped >names.diff || die "$(head names.diff)"

# On arm64 the threads of the third have one thread pointer, and it is refused (docs/arm64.md).
kinds="static stripped pie"
[ "$(uname -m)" != aarch64 ] || kinds="static stripped"
for kind in $kinds; do
	victim "goroutines_$kind"
	visit
	another
	count
	alone
	killed
	victim_quit
	command "$VICTIMS/goroutines_$kind"
done

#!/bin/bash
# SPDX-License-Identifier: MIT
# places_everywhere: each instruction of some functions is a place in turn. Functions that rely
# there on flags, registers and what lies below the stack pointer return what they did, each
# time that control comes by is counted, and no call is paired otherwise.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

STRIDE=8	# places at a time are so many instructions apart
CALLS=400

# Control comes by such a place once a call.
counted()
{
	local wrong

	inject_bg count -p "$VICTIM" "${PLACES[@]}"
	tell "check $CALLS" '^checked' >/dev/null
	inject_end
	removed
	wrong=$(awk -v n=$CALLS '/pl_line/ && $1 != n' trace.out)
	[ -z "$wrong" ] || die "of $CALLS calls came by: $wrong"
	passed=$((passed + $(grep -c 'pl_line' trace.out || true)))
}

# Threads stand anywhere when the probes come, and when they go.
under_load()
{
	tell spin '^spin' >/dev/null
	inject_bg -p "$VICTIM" "${PLACES[@]}" -o /dev/null
	victim_works
	inject_end
	removed
	tell still '^still' >/dev/null
}

# Registers are read there, too, by C.
valued()
{
	local values=() place

	for place in "${PLACES[@]}"; do
		[ "$place" = -f ] || values+=(-A "$place(a:i64, b:str, x:f64)")
	done
	# Of those without room it would be said that none is probed.
	mapfile -t refused < <("$INJECT" list -q "$VICTIMS/places" "${PLACES[@]}" 2>/dev/null |
		awk -F '\t' '$5 == "refused" { print $4 "(a:i64, b:str, x:f64)" }')
	for place in "${refused[@]}"; do
		for i in "${!values[@]}"; do
			[ "${values[i]}" != "$place" ] || unset "values[i]" "values[i-1]"
		done
	done
	inject_bg -p "$VICTIM" "${PLACES[@]}" "${values[@]}"
	tell "check $CALLS" '^checked' >/dev/null
	inject_end
	removed
	# (A text may have anything in it.)
	! grep -ao '| *pl_[a-z_]*+0x[0-9a-f]*.*' trace.out |
		grep -av '(a=-\?[0-9]*, b=.*, x=.*);$' || die "a place is without values"
	read=$((read + $(grep -c 'pl_line' trace.out || true)))
}

victim places
mapfile -t all < <(places_of places pl_line_zone pl_line_flags pl_line_vector pl_switch pl_loop \
	pl_float pl_deep pl_exclusive)
# A fourth of them, where all is slow.
step=1
[ "${PATIENCE:-1}" -lt 10 ] || step=4
lines=0
passed=0
read=0
for ((n = 1; n <= STRIDE; n += step)); do
	every $STRIDE $n "${all[@]}"
	lines=$((lines + $(printf '%s\n' "${PLACES[@]}" | grep -c pl_line)))
	counted
	valued
	under_load
done
echo "${#all[@]} places, $lines that are passed once a call, $passed counted, $read times values"
[ "${#all[@]}" -gt 100 ] || die "there are few"
[ $read -ge $((passed * CALLS)) ] || die "values are missing"
# Between an exclusive load and its store there is no place.
every 1 1 "${all[@]}"
"$INJECT" list -q "$VICTIMS/places" "${PLACES[@]}" 2>/dev/null | cut -f4,6 >listed
parted=$(grep -c "^pl_exclusive+.*	exclusive$" listed || true)
[ "$parted" = "$([ "$(uname -m)" = aarch64 ] && echo 5 || echo 0)" ] ||
	{ grep exclusive listed; die "$parted places are in exclusive accesses"; }
# Where two are nearer than a jump is long, the second one has no room.
[ $((passed * 10)) -ge $((lines * 9)) ] || die "many have no room"

# A place in a leaf that has pushed nothing ends no call around it.
at() { places_of places "$1" | sed -n "$2p"; }
inject_bg record -p "$VICTIM" -f 'pl_*' -f "$(at pl_line_zone 20)" \
	-f "$(at pl_line_flags 12)" -f "$(at pl_deep 6)"
tell 'check 200' '^checked' >/dev/null
inject_end
removed
"$INJECT" replay --json >calls.json
[ "$(grep -c '"func":"pl_line_zone"' calls.json)" = 200 ] || die "calls are missing"
[ "$(grep -c '"func":"pl_line_zone+0x' calls.json)" = 200 ] || die "marks are missing"
! grep '"type":"call"' calls.json | grep -v '"func":"[a-z_]*+0x' | grep -v '"end":"return"' ||
	die "a place has ended a call"
victim_quit

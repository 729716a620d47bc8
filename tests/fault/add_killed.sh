#!/bin/bash
# SPDX-License-Identifier: MIT
# add_killed: inject is killed before each write by which it adds a function, with what is read of its
# calls, its callers and a condition, to a process that records by itself, or the write fails. Whatever it
# had done by then, a call that is kept is whole, and one that the condition wants; and the next add works
# as any.
# timeout: 1800
# long: 200
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
need jq

add=(-f step_short -w 'i == 7 && retval == 8' -a --stack=1)

# at N [ARG...]: something is done at the N-th write of an add.
at()
{
	result=0
	timeout $((60 * ${PATIENCE:-1})) "$BUILD/tests/fault/failer" -o "${CALL[pwrite64]}" \
		-n "$1" "${@:2}" -- "$INJECT" add -p "$VICTIM" "${add[@]}" \
		>trace.out 2>trace.err 9>&- || result=$?
}

# kept: how many calls are, in KEPT, each of them with all about it.
kept()
{
	tell run '^run ' >/dev/null
	status 0 "$INJECT" snapshot -p "$VICTIM" -o shot
	"$INJECT" replay --json shot >shot.json
	jq -es 'map(select(.type == "call")) | all(.[]; .func == "step_short" and .args.i == "7" and
		.ret == "8" and .stack[0].func == "outer_round")' shot.json >/dev/null ||
		die "$(jq -c 'select(.type == "call")' shot.json | head -n 3)"
	KEPT=$(grep -c '"call"' shot.json || true)
}

# Where all is slow some of the writes.
[ "${PATIENCE:-1}" = 1 ] && steps=(1 3) || steps=(4 7)

victim sifted
for step in "${steps[@]}"; do
	status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f outer_round -w 'i == 4000'
	for ((n = 1; ; n += step)); do
		if [ "$step" = "${steps[0]}" ]; then at $n -k; else at $n -e 5; fi
		[ "$result" != 0 ] || break
		[ "$result" = 137 ] || [ "$result" = 1 ] || die "status $result at write $n: $(cat trace.err)"
		if [ $((n % 3)) = 1 ]; then
			kept
		fi
		again=0
		"$INJECT" add -q -p "$VICTIM" "${add[@]}" 2>again.err || again=$?
		[ $again = 0 ] || [ $again = 3 ] || die "after write $n: $(cat again.err)"
		if [ $((n % 3)) = 1 ]; then
			before=$KEPT
			kept
			[ "$KEPT" = $((before + 1600)) ] || die "after write $n: $KEPT calls, not 1600 more than $before"
		fi
		status 0 "$INJECT" remove -p "$VICTIM" -f step_short
	done
	[ "$n" -gt 12 ] || die "few writes: $n"
	echo "$n writes"
	status 0 "$INJECT" stop -p "$VICTIM"
	unharmed
done

#!/bin/bash
# SPDX-License-Identifier: MIT
# filter_killed: inject is killed before each write by which it changes what a process keeps that
# records by itself, or the write fails. Whatever it had done by then, a call that is kept is one that
# the former filter wants or the new one; and the next filter holds as any.
# timeout: 1200
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
need jq

# at N [ARG...]: something is done at the N-th write of a filter.
at()
{
	result=0
	timeout $((60 * ${PATIENCE:-1})) "$BUILD/tests/fault/failer" -o "${CALL[pwrite64]}" \
		-n "$1" "${@:2}" -- "$INJECT" filter -p "$VICTIM" "${filter[@]}" \
		>trace.out 2>trace.err 9>&- || result=$?
}

# judged: all calls that are kept since the last one have one of these arguments, and what they return.
judged()
{
	tell run '^run ' >/dev/null
	status 0 "$INJECT" snapshot -p "$VICTIM" -o shot
	"$INJECT" replay --json shot >shot.json
	jq -es --arg wanted "$1" '($wanted | split(" ")) as $w |
		map(select(.type == "call")) | all(.[]; (.args.i | tonumber) + 1 == (.ret | tonumber) and
			(.args.i as $i | $w | index($i)))' shot.json >/dev/null ||
		die "$1: $(jq -c 'select(.type == "call")' shot.json | head -n 3)"
}

victim sifted
for again in 0 1; do
	status 0 "$INJECT" start -p "$VICTIM" --max-overhead 100 -f step_short -w 'i == 7' -a
	filter=(-w 'i == 9 && retval == 10' -t 1ns -D 5)
	for ((n = 1; ; n++)); do
		if [ $again = 0 ]; then at $n -k; else at $n -e 5; fi
		[ "$result" != 0 ] || break
		[ "$result" = 137 ] || [ "$result" = 1 ] || die "status $result at write $n"
		judged '7 9'
	done
	[ "$n" -gt 8 ] || die "few writes: $n"
	echo "$n writes"
	status 0 "$INJECT" filter -p "$VICTIM" -w 'i == 11' -t 0 -D 0
	status 0 "$INJECT" status -p "$VICTIM"
	before=$(sed -n 2p trace.out | cut -f6)
	tell run '^run ' >/dev/null
	status 0 "$INJECT" status -p "$VICTIM"
	[ $(($(sed -n 2p trace.out | cut -f6) - before)) = 3200 ] || die "not 1600 calls: $(cat trace.out)"
	judged '7 9 11'
	status 0 "$INJECT" stop -p "$VICTIM"
	unharmed
done

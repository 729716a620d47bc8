#!/bin/bash
# SPDX-License-Identifier: MIT
# semaphores_killed: inject is killed before each write to the memory of a program whose
# semaphores it raises and lowers, or the write fails. Once stop has run, all of them are what they
# were.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root

# untouched WHAT
untouched()
{
	local got

	got=$(tell semaphores '^semaphores')
	[ "$got" = "semaphores $raised 0" ] || die "$got $1, not $raised 0"
}

# at N [ARG...]: something is done at the N-th write.
at()
{
	result=0
	timeout $((60 * ${PATIENCE:-1})) "$BUILD/tests/fault/failer" -o "${CALL[pwrite64]}" \
		-n "$1" "${@:2}" -- "$INJECT" -p "$VICTIM" --usdt 'us:*' -d 0.02 -o /dev/null \
		>trace.out 2>trace.err 9>&- || result=$?
}

victim usdt
# Where all is slow some of the writes, and others in each round.
[ "${PATIENCE:-1}" = 1 ] && step=1 || step=4
for raised in 0 7; do
	tell "set $raised" '^set' >/dev/null
	for ((n = 1 + raised % step, killed = 0; ; n += step)); do
		at $n -k
		if [ "$result" = 137 ]; then
			killed=$((killed + 1))
			status 0 "$INJECT" stop -p "$VICTIM"
		fi
		untouched "killed before write $n"
		clean
		[ "$result" = 137 ] || break
	done
	[ "$result" = 0 ] || die "status $result, and not killed"
	echo "killed before $killed writes"
	[ $n -gt 10 ] || die "few writes"
done
writes=$n
for ((n = 1 + step / 2; n < writes; n += step)); do
	at $n -e 5
	[ "$result" = 0 ] || [ "$result" = 1 ] || status 0 "$INJECT" stop -p "$VICTIM"
	untouched "where write $n fails"
	clean
done

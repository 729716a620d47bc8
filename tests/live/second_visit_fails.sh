#!/bin/bash
# SPDX-License-Identifier: MIT
# second_visit_fails: a later visit needs memory near another library, and one
# of its system calls fails, from the first step that touches the target on.
# What it has mapped is unmapped and forgotten, or found again: the visit after
# it works, and nothing is mapped twice.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

FAILER=$BUILD/tests/fault/failer
mappings() { grep -c -v '\[heap\]\|\[stack\]' "/proc/$VICTIM/maps"; }

# The session's memory is the first that a visit opens: count from there. It is
# some 230 calls to the end of the loading; what comes after undoes nothing. Those
# of the last sixth, which write there, fail the visit; of the others few do, for
# most are made again.
failed=0
# Some of them where all is slow.
step=1
[ "${PATIENCE:-1}" -lt 10 ] || step=4
for n in $(seq 4 $((16 * step)) 160) $(seq 180 $((5 * step)) 240); do
	rm -f victim.in
	victim single
	status 0 "$INJECT" -p "$VICTIM" -f 'single_*' -d 0.02 -o /dev/null
	before=$(mappings)
	got=0
	"$FAILER" -a "/proc/$VICTIM/fd/" -n "$n" -e 5 -- \
		"$INJECT" -p "$VICTIM" -f 'strto*@libc.so*' -d 0.02 -o /dev/null \
		>trace.out 2>trace.err 9>&- || got=$?
	case $got in
	0) ;;
	1) failed=$((failed + 1)) ;;
	# 134: our own C library gives up when a thread cannot be started; another, a
	# sanitizer that cannot have or give back its own memory.
	5 | 134) status 0 "$INJECT" stop -p "$VICTIM" ;;
	*) grep -q 'ERROR: AddressSanitizer failed to ' trace.err || die "call $n: status $got"
		status 0 "$INJECT" stop -p "$VICTIM"
		;;
	esac
	status 0 "$INJECT" -p "$VICTIM" -f 'strto*@libc.so*' -d 0.02 -o /dev/null
	removed
	# One place for stubs near the library, whatever became of the first.
	[ "$(mappings)" = $((before + 1)) ] || die "call $n: $before mappings became $(mappings)"
	echo quit >&9
	wait "$VICTIM" || die "call $n: the victim ended badly"
done
[ $failed -gt 0 ] || die "only $failed visits failed"

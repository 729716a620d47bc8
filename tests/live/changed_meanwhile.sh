#!/bin/bash
# SPDX-License-Identifier: MIT
# changed_meanwhile: two injects change one session. The second has looked at it before the first
# one changes it, and waits for its lock: then it must look again, or it would write its older
# journal over the other's, and what that has put in could never be taken out.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
need strace

# late VERB ARG...: has looked at the session, and takes its lock some seconds later.
late()
{
	rm -f late.out
	strace -qq -o late.out -e trace=flock -e inject=flock:delay_enter=$((5 * ${PATIENCE:-1}))s \
		"$INJECT" "$1" -p "$VICTIM" "${@:2}" >late.txt 2>&1 9>&- &
	LATE=$!
	started $LATE
	wait_until 60 stands_at_lock || die "$1 does not come to its lock"
}
stands_at_lock()
{
	local pid

	pid=$(pgrep -P $LATE) && [ -n "$(find "/proc/$pid/fd" -lname "/proc/$VICTIM/mem" 2>/dev/null)" ] &&
		[ "$(cut -d' ' -f1 "/proc/$pid/syscall")" = "${CALL[flock]}" ]
}
# Its status.
late_ends()
{
	local got=0

	! has_line ' = ' late.out || die "it was not late: $(cat late.out)"
	wait $LATE || got=$?
	[ $got = "$1" ] || die "status $got: $(cat late.txt)"
}
# probed N: so many functions are, by the journal.
probed()
{
	[ "$("$INJECT" status -p "$VICTIM" 2>/dev/null | sed -n 2p | cut -f4)" = "$1" ] ||
		die "not $1 functions: $("$INJECT" status -p "$VICTIM" 2>&1)"
}

victim spin_threads 2
status 0 "$INJECT" start -p "$VICTIM" -f count_leaf --max-overhead 100
late add -f spin_leaf
status 0 "$INJECT" add -p "$VICTIM" -f spin_loop
late_ends 0
probed 3
late remove -f spin_loop
status 0 "$INJECT" remove -p "$VICTIM" -f spin_loop
late_ends 3
probed 2
late filter -D 2
status 0 "$INJECT" add -p "$VICTIM" -f spin_loop
late_ends 0
probed 3
late add -f spin_switch
status 0 "$INJECT" remove -p "$VICTIM" -f 'spin_*'
late_ends 0
probed 2
status 0 "$INJECT" stop -p "$VICTIM"
unharmed
victim_quit

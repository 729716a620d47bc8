#!/bin/bash
# SPDX-License-Identifier: MIT
# waiting: a service that waits in read, for a lock, a condition or events, in sleeps, or
# on another stack, in three probed functions or in thirty, and in those of the C library.
# Calls that began before the attach end with their real exits. Calls that
# are open at the end are left as they are, at once: nothing of ours is on any stack,
# so that afterwards all code of ours may be forbidden, and each of them returns.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/waiting_lib.sh
. "$ROOT/tests/waiting_lib.sh"

CALLS=$((7 * (3 + 30)))		# in which threads wait

# What a program has by itself: files and what the kernel brings.
own_mappings()
{
	awk '$2 ~ /x/ && $6 ~ /^[\/[]/ && $6 !~ /^\/memfd:/ { print $1 }' "/proc/$VICTIM/maps" | sort
}

# count PATTERN: how many of the victim's calls are so.
count() { grep '"func":"wait_' calls.json | grep -c -- "$1" || true; }

# judge HOW: as many calls have ended as HOW says, and as many are left open.
judge()
{
	sed -i 's/"end":"open"\(.*"began_before":true\)/"end":"before"\1/' calls.json
	[ "$(count "\"end\":\"$1\"")" = $CALLS ] || die "not $CALLS calls ended: $1"
	[ "$(count '"end":"open"')" = $CALLS ] || die "not $CALLS calls left open"
	[ "$(count '"type":"call"')" = $((2 * CALLS)) ] || die "other calls, too"
}

# Each comes out of its calls, and waits in the next ones: it has said so where it was about
# to, and needs a processor once more for that.
go_on()
{
	tell go '^gone' >/dev/null
	wait_until 60 all_sleep || die "threads do not wait"
}

# All wait in calls that were entered while probed.
go_without_us()
{
	forbid_ours
	go_on
	go_on
	victim_works
}

# attached_to PATTERN...: while all wait.
attached_to()
{
	local words=() p

	for p; do words+=(-f "$p"); done
	victim waiting
	code_mappings >before
	inject_bg -p "$VICTIM" "${words[@]}" --json -o calls.json
	go_on
	inject_end
	clean
	judge before
	go_without_us
	victim_quit
	wait "$VICTIM" || die "the victim ended with status $?"
}

# The same of a command that inject has started; in the background of a script it
# ignores the signal that ends the trace.
started_by_us()
{
	mkfifo victim.in
	: >victim.out
	"$INJECT" -f 'wait_*' -f '*@libc.so*' --json -o calls.json -- "$VICTIMS/waiting" \
		<victim.in >victim.out 2>trace.err 9>&- &
	TRACER=$!
	started "$TRACER"
	exec 9>victim.in
	wait_until 60 has_line '^ready$' victim.out || die "the command is not ready"
	VICTIM=$(pgrep -P "$TRACER")
	started "$VICTIM"
	own_mappings >before
	go_on
	kill -INT "$TRACER"
	wait_until 60 probes_gone || die "the probes are not removed"
	clean
	judge return
	go_without_us
	victim_quit
	inject_wait
}

attached_to 'wait_*'
[ -z "${KIND:-}" ] || exit 0
attached_to 'wait_*' '*@libc.so*'
# Of the C library's functions, too, some are left in each thread.
waiting=$(grep '"end":"open"' calls.json | grep '"module":"libc.so.6"' | grep -v '"entry_only"' |
	grep -o '"tid":[0-9]*' | sort -u | wc -l)
[ "$waiting" -ge 14 ] || die "$waiting threads wait in calls of the C library"
started_by_us

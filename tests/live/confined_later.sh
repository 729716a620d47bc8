#!/bin/bash
# SPDX-License-Identifier: MIT
# confined_later: a process installs a strict seccomp filter while it is
# traced. Threads that come to a probe for the first time make no system call
# there, nor does a stop make them do one: any would kill the process.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

confine()
{
	rm -f victim.in
	SLEPT=
	victim confined
	inject_bg -v -p "$VICTIM" -f 'early_*' -f 'later_*' "$@"
	grep -q gettid trace.err && die "the ids of its threads are not known"
	wait_until 20 sleeps_again || die "a thread does not run again"
	tell confine '^confined$' >/dev/null
	wait_until 20 many_threads || die "few threads: $(calls)"
}

# A thread that was let go but has had no processor yet is still to go on with its sleep, and
# under the filter it may not.
sleeps_again()
{
	local stat

	for stat in "/proc/$VICTIM/task"/*/stat; do
		case " $SLEPT " in
		*" $stat "*) continue ;;
		esac
		grep -q ') S ' "$stat" || return 1
		SLEPT="$SLEPT $stat"
	done
}

# One line a call; the main thread's and each new one's.
calls() { grep -c 'later_work' trace.out; }
tids() { sed -n 's/.*\[ *\([0-9]*\)\].*later_work.*/\1/p' trace.out | sort -u | wc -l; }
many_threads() { kill -0 "$VICTIM" || die "it was killed"; [ "$(tids)" -ge 20 ]; }

confine
grep -q "\[ *$VICTIM\].*later_work" trace.out || die "no call of the main thread"
inject_end
removed

# A later visit is refused, for it would have to make system calls.
status 1 "$INJECT" -p "$VICTIM" -f 'early_*'
refused 'seccomp filter'
unharmed

# What a killed injector has left is removed from outside alone.
confine
kill -KILL "$TRACER"
wait "$TRACER" || true
victim_works
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

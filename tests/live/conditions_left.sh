#!/bin/bash
# SPDX-License-Identifier: MIT
# conditions_left: a condition of -w that asks how long a call takes passes calls that longjmp
# leaves, calls around others before these, and calls that hang, as -t does; but none of which the
# return still has to tell.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need gcc jq

cat >left.c <<'C'
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PROBED __attribute__((noinline, noipa))
static jmp_buf out;

PROBED int leaves(int us) { usleep(us); longjmp(out, 1); }
PROBED int inner(int us) { usleep(us); return us; }
PROBED int around(int us) { int ret = inner(us); usleep(us); return -ret; }
PROBED int middle(int us) { int ret = inner(us); usleep(us); return inner(us) + ret; }
PROBED int outer(int us) { int ret = middle(us); usleep(us); return ret; }
PROBED int next(int us) { return us + 1; }

int main(void)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		int us = atoi(line + 2);

		if (*line == 'a' ? around(us) != -us : *line == 'i' && inner(us) != us)
			return 1;
		if (*line == 'o' && outer(us) != 2 * us)
			return 1;
		if (*line == 'l' && !setjmp(out))
			leaves(us);
		printf("%d\n", next(us));
		fflush(stdout);
	}
	return 0;
}
C
gcc -O1 -g -o left left.c || die "no program"
mkfifo in
./left <in >out &
LEFT=$!
started "$LEFT"
exec 8>in
wait_until 30 executes "$LEFT" left || die "it does not begin"
CALLS=(-f leaves -f inner -f around -f next)

gone() { has_line 'all probes removed, text verified' trace.err && clean "$LEFT"; }

# calls FILE: which are told, how they end, and how deep, sorted.
calls()
{
	jq -rs '[.[] | select(.type == "call") | "\(.func) \(.end) \(.depth)"] | sort | join(", ")' "$1"
}

# told OPTION...: the calls that are told of a few.
told()
{
	local n

	inject_bg -p "$LEFT" "${CALLS[@]}" -o calls.out --json "$@"
	n=$(wc -l <out)
	printf '%s\n' 'l 1000' 'l 450000' 'a 400000' 'i 1000' >&8
	wait_until 30 has_lines "$((n + 4))" out || die "$*: it does not answer"
	inject_end
	gone
	[ "$(closing lost)" = 0 ] || die "$*: lost: $(tail -n 1 trace.err)"
	calls calls.out
}

has_lines() { [ "$(wc -l <"$2")" -ge "$1" ]; }

# expect WHAT OPTION...
expect()
{
	local got

	got=$(told "${@:2}")
	[ "$got" = "$1" ] || die "${*:2}: '$got', not '$1'"
}

all='around return 0, inner return 1, leaves unwound 0'
expect "$all" -t 300ms
expect "$all" -w 'duration > 300ms'
expect 'leaves unwound 0' -a -w 'duration > 300ms && us == 450000'
expect 'around return 0, leaves unwound 0' -w 'duration > 300ms && depth == 1'
expect 'around return 0' -w 'duration > 300ms && retval < 0'
expect "$all" -w 'duration > 300ms || retval == 17'
# Where the call came from is not known any more.
expect 'around return 0' -w 'duration > 300ms && caller == main'

# hangs SHOWN OPTION...: is a call that is open shown?
hangs()
{
	inject_bg -p "$LEFT" -f inner -o calls.out --no-color "${@:2}"
	echo 'i 1500000' >&8
	if [ "$1" = yes ]; then
		wait_until 2 has_line '| inner(.*) {$' calls.out || die "${*:2}: not shown: $(cat calls.out)"
	else
		sleep 1
		has_line 'inner' calls.out && die "${*:2}: shown: $(cat calls.out)"
	fi
	n=$(wc -l <out)
	wait_until 30 has_lines $((n + 1)) out || die "it does not answer"
	inject_end
	gone
}

hangs yes -t 200ms
hangs yes -w 'duration > 200ms'
hangs yes -a -w 'duration > 200ms && us > 5'
hangs no -w 'duration > 200ms && retval < 0'
hangs no -w 'duration > 10s'
# Nothing passes around a call that is recorded, and open: it is shown behind that.
status 0 "$INJECT" start -p "$LEFT" -f middle -f next -w 'us > 0'
status 0 "$INJECT" add -p "$LEFT" -f outer -f inner -w 'duration > 300ms'
n=$(wc -l <out)
printf '%s\n' 'o 400000' 'o 1000' >&8
wait_until 30 has_lines $((n + 2)) out || die "it does not answer"
status 0 "$INJECT" snapshot -p "$LEFT" -o kept
status 0 "$INJECT" stop -p "$LEFT"
status 0 "$INJECT" replay --json kept
want='inner return 1, inner return 1, middle return 0, middle return 0, '
want+='next return 0, next return 0, outer return 0'
[ "$(calls trace.out)" = "$want" ] || die "around: $(calls trace.out)"
exec 8>&-
wait "$LEFT" || die "it computes something else"

#!/bin/bash
# SPDX-License-Identifier: MIT
# container_threads: in a PID namespace, where threads have other ids than we know them
# by, what was a thread's becomes another's only once it has ended: its ring, though its ids
# cannot be asked for, and what is kept for calls without stack in Go.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need strace jq unshare
# From then on the kernel says whose an id is.
kernel_tells() { [ "$(uname -r | sort -V - <(echo 6.11) | head -n 1)" = 6.11 ]; }
unshare --pid --fork --mount-proc true 2>unshare.err ||
	skip "namespaces are not permitted here: $(cat unshare.err)"

# contained NAME [ARG...]: the victim NAME.
contained()
{
	local outer

	AS=(unshare --pid --fork --kill-child --mount-proc)
	victim "$@"
	outer=$VICTIM
	VICTIM=$(cat "/proc/$outer/task/$outer/children")
	VICTIM=${VICTIM% }
	started "$VICTIM"
}

# Threads but the main one. (Some have ended before they could be looked at.)
others() { (cd "/proc/$VICTIM/task" && printf '%s\n' *) | grep -vx "$VICTIM" | sort; }

# Of four threads that live on the first one's status cannot be read.
contained churn 4
others >before
gets_on 50
mapfile -t tids < <(others | comm -12 before -)
status 0 strace -qq -f -o strace.out -P "/proc/$VICTIM/task/${tids[0]}/status" -e trace=openat \
	-e inject=openat:error=ENOMEM "$INJECT" -p "$VICTIM" -f 'pthread_create*' \
	-f 'pthread_create*@*' --json -d 1
removed
all=$(grep -c '"type":"call"' trace.out)
most=$(grep '"type":"call"' trace.out | grep -cE "\"tid\":(${tids[1]}|${tids[2]}|${tids[3]}),")
[ $((all - most)) -gt $((most / 12)) ] || die "$all calls, $most of three of four threads"
victim_quit

kernel_tells && [ -x "$VICTIMS/goroutines_static" ] || exit 0
contained goroutines_static
# Locked threads end by the hundred, while those that stay make calls without stack.
inject_bg count -p "$VICTIM" -f main.last -f 'runtime.exitThread*' --json -o counts.json
for _ in 1 2 3 4 5 6; do
	tell 'ask 100' '^asked' >/dev/null
	tell 'tight 100' '^made' >>made
done
inject_end INT
removed
made=$(awk '{ n += $2 } END { print n }' made)
calls_of() { jq -s "map(select(.type == \"count\" and (.func | startswith(\"$1\"))).calls) | add" counts.json; }
[ "$(calls_of main.last)" = "$made" ] || die "$(calls_of main.last) calls, made $made"
[ "$(calls_of runtime.exitThread)" -gt 590 ] || die "$(calls_of runtime.exitThread) threads have ended"
victim_quit

#!/bin/bash
# SPDX-License-Identifier: MIT
# release_leaves: inject is held before it lets the 1st, 2nd, 3rd ... thread go, at the end
# of a loan, after a commit and at the removal. Meanwhile the threads that run execute
# another program, or fork, or end, or start others. The new program is not disturbed, nor
# does it lend its threads; inject says what is true, and soon; no thread stays traced. Then
# the same before its other calls of ptrace, and in processes of up to 64 threads at any
# moment.
# long: 80
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

PTRACE=${CALL[ptrace]} DETACH=17
INJECT=("$INJECT" -f leave_work -d 0.01 -o /dev/null --max-pause 20s -v -p)
RANDOM=${SEED:-1}

leaver()
{
	: >trace.err
	rm -f go
	victim leaver "$1" "$PWD/go" 7
}

# A loan of the new program is one too many; but all are counted, of which the first program
# has some. Without that rule 300 follow.
lends() { grep -c ' lent a thread for ' trace.err || true; }

# judge WHAT STATUS
judge()
{
	local got=0

	[ "$2" = 0 ] || [ "$1,$2" = exec,4 ] || { cat trace.err; die "status $2"; }
	if [ "$1" = exec ]; then
		wait_until 30 has_line '^again$' victim.out || die "the new program does not begin"
	fi
	if [ "$2" = 0 ]; then
		has_line 'text verified$' trace.err || die "not removed"
	else
		has_line 'executes another program$' trace.err || die "does not say what happened"
		[ "$(lends)" -lt 150 ] || die "the new program has lent threads"
	fi
	unharmed
	victim_quit
	wait "$VICTIM" || got=$?
	[ $got = 7 ] || die "the program ended with status $got"
}

# held THREADS WHAT REQUEST N SECONDS: before the N-th ptrace of that request (0: of any).
# False: there is none.
held()
{
	local got=0

	leaver "$1"
	timeout $((90 * ${PATIENCE:-1})) "$BUILD/tests/fault/failer" -o "$PTRACE" -r "$3" -n "$4" \
		-w "echo $2 >go.new; mv go.new go; sleep $5" -- "${INJECT[@]}" "$VICTIM" \
		>trace.out 2>trace.err 9>&- || got=$?
	[ $got != 124 ] || die "no end"
	! has_line ' was -1$' trace.err || echo "$2" >go
	judge "$2" $got
	! has_line ' was -1$' trace.err
}

# sweep WHAT REQUEST FROM STRIDE
sweep()
{
	local n=$3

	while held 3 "$1" "$2" "$n" 0.05; do n=$((n + $4)); done
	[ "$n" -gt 6 ] || die "$1: ends at $n"
	echo "$1, request $2: up to $n"
}

# at_random SECONDS
at_random()
{
	local end=$((SECONDS + $1)) runs=0 gone=0 got go

	while [ $SECONDS -lt $end ]; do
		leaver $((1 + RANDOM % 64))
		(sleep 0.0$((10 + RANDOM % 80)); echo exec >go.new; mv go.new go) &
		go=$!
		got=0
		timeout $((90 * ${PATIENCE:-1})) "${INJECT[@]}" "$VICTIM" \
			>trace.out 2>trace.err 9>&- || got=$?
		wait $go
		judge exec $got
		runs=$((runs + 1)) gone=$((gone + (got == 4)))
	done
	echo "$gone of $runs executed another program before the end"
}

# Where all is slow some of the threads, and others in each.
[ "${PATIENCE:-1}" = 1 ] && step=1 || step=3
from=0
for what in exec fork vfork end born; do
	sweep $what $DETACH $((1 + from++ % step)) "$step"
done
sweep exec 0 $((1 + RANDOM % 13)) 13
held 3 exec $DETACH 2 10
held 3 exec $DETACH 5 10
held 3 exec $DETACH 8 10
at_random 10

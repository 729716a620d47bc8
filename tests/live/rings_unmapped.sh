#!/bin/bash
# SPDX-License-Identifier: MIT
# rings_unmapped: the addresses of the rings are given back after each kind of visit, also in
# forked children and by stop; but not while something is to go on in a recording routine: a
# thread, or what a handler has interrupted, wherever that is kept.
# timeout: 600
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

LARGE=$((5 << 25)) SMALL=$((1 << 27))

# session [PID]: bytes of addresses
session()
{
	local range rest n=0

	while read -r range rest; do
		[ "${rest#*memfd:inject-session}" = "$rest" ] ||
			n=$((n + 0x${range#*-} - 0x${range%-*}))
	done <"/proc/${1:-$VICTIM}/maps"
	echo $n
}

given_back() { [ "$(session "$@")" -lt $SMALL ] || die "$what: $(session "$@") bytes are kept"; }
taken() { [ "$(session "$@")" -gt $LARGE ] || die "$what: $(session "$@") bytes only"; }

victim forker
for what in trace count hist record; do
	verb=${what#trace} out=/dev/null
	[ $what != record ] || out=recorded
	# shellcheck disable=SC2086 # none, or a word
	inject_bg $verb -p "$VICTIM" -f 'fork_*' -o $out
	child=$(tell fork '^child' | cut -d' ' -f2)
	taken
	taken "$child"
	inject_end
	removed
	given_back
	given_back "$child"
	tell reap '^reaped 1' >/dev/null
done
for what in 'start' 'start -t 1us'; do
	# shellcheck disable=SC2086 # words
	status 0 "$INJECT" $what -p "$VICTIM" -f 'fork_*'
	taken
	status 0 "$INJECT" stop -p "$VICTIM"
	given_back
done
unharmed
victim_quit

# A handler has interrupted a recording routine, and has left it for another stack.
victim suspender
for what in trace count hist; do
	# shellcheck disable=SC2086 # none, or a word
	inject_bg ${what#trace} -p "$VICTIM" -f suspend_step -o /dev/null
	tell suspend '^ok suspend' >/dev/null
	inject_end
	removed
	taken
	tell go '^ok go' >/dev/null
	unharmed
done
victim_quit

[ "$(uname -m)" = x86_64 ] || exit 0

# A handler has interrupted a stub, or a recording routine, and holds its thread there.
for what in read 'step 64' 'step 160' 'step 240'; do
	victim lingerer
	inject_bg -p "$VICTIM" -f linger --entry-only -o /dev/null
	tell "$what" "^ok ${what%% *}" >/dev/null
	inject_end
	clean
	taken
	tell go '^ok go' >/dev/null
	victim_quit
done

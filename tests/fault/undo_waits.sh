#!/bin/bash
# SPDX-License-Identifier: MIT
# undo_waits: what was opened in a target goes again when the rest fails, also in
# one whose only thread can seldom be borrowed.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
victim tight_stack busy

# fails N: inject, with its N-th call of fcntl failing, says that it is the
# sealing of the session, which has a descriptor in the target by then.
fails()
{
	"$BUILD/tests/fault/failer" -o "${CALL[fcntl]}" -n "$1" -e 1 -- \
		"$INJECT" -p "$VICTIM" -f 'tight_*' -d 0.01 -o /dev/null 2>fails.err
	has_line 'inject: size the session' fails.err
}

files=$(ls "/proc/$VICTIM/fd")
n=1
until fails $n; do
	[ $((n += 1)) -lt 100 ] || die "the session is not sealed"
done
for _ in $(seq 8); do
	fails $n || die "call $n was something else"
	[ "$(ls "/proc/$VICTIM/fd")" = "$files" ] || die "a descriptor of ours stayed"
done
tell ping '^alive [0-9]* 0$' >/dev/null

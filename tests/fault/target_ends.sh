#!/bin/bash
# SPDX-License-Identifier: MIT
# target_ends: the target is killed before the 1st, 2nd, 3rd ... system call of a
# trace, and of the other verbs. Whichever it is, inject says that it has ended,
# with status 4, and takes what cannot be read any more for nothing else.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

failer=$BUILD/tests/fault/failer
points=0

# ends STRIDE FINISHED VERB...: until a call is one that is not made. FINISHED:
# a line of a run that had all it wanted before the end.
ends()
{
	local n got stride=$(($1 * ${WIDER:-1})) finished=$2

	shift 2
	[ -z "${SOAK:-}" ] || stride=1
	for ((n = 1; ; n += stride)); do
		victim single
		got=0
		"$failer" -a "/proc/$VICTIM" -n $n -x "$VICTIM" -- "$INJECT" "$@" -p "$VICTIM" \
			>trace.out 2>trace.err || got=$?
		if has_line ' was -1$' trace.err; then
			[ $got = 0 ] || die "status $got though the target lived"
			has_line "$finished" trace.err
			unharmed
			break
		fi
		judge "$1" "$n" "$got"
		wait "$VICTIM" 2>/dev/null || true
		rm victim.in
		points=$((points + 1))
	done
	victim_quit
	echo "$points points, the last call of $1 is before $n"
}

judge()
{
	# It had all that it wanted by then.
	[ "$3" = 0 ] && has_line "$finished" trace.err && return
	[ "$3" = 4 ] || { cat trace.err; die "$1: status $3 when it ended before call $2"; }
	grep -qiE 'ended|no such process|executes another' trace.err ||
		{ cat trace.err; die "$1 does not say that it has ended (call $2)"; }
	if grep -E '^inject: refused|was refused|text-differs|kernel thread|PROBES REMAIN|No such file' trace.err; then
		die "$1 takes an end for something else (call $2)"
	fi
}

ends 53 'text verified$' trace -f 'single_*' -d 0.01 --tid 1 -o /dev/null
ends 7 ' functions: ' list -f 'single_*'
ends 17 'text verified$' stop

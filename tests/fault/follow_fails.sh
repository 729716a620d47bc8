#!/bin/bash
# SPDX-License-Identifier: MIT
# follow_fails: system calls of an inject fail, or it is killed before them, that follows
# its target into what it executes, into its children, and into both: the target, and its
# children, run on with their own text, and what is said of them is true.
# timeout: 1800
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"
# shellcheck source=tests/fault_lib.sh
. "$ROOT/tests/fault_lib.sh"

need_root

# follows STRIDE HOW VICTIM PATTERN ARG...: with a victim that has been traced before. All is
# recorded, and of no thread printed: nothing that is traced has the number 1.
follows()
{
	local stride=$1 how=$2 victim=$3 pattern=$4

	shift 4
	sweep "$stride" "$how" again "$victim" -p @ -f "$pattern" --tid 1 -o /dev/null \
		--max-pause 10s "$@"
}

# In which the next program has begun, too, and is traced. (A run that stops before each of its
# calls attaches in seven seconds to ten in an emulated machine.)
[ "${PATIENCE:-1}" -lt 10 ] && time=300ms || time=$((3 * PATIENCE))s
forks() { TELL=fork,reap follows "$@" forker 'fork_*' -d 0.03 --follow-fork; }
execs() { TELL=exec PROGRAMS=2 follows "$@" execer 'exec_*' -d "$time" --follow-exec; }
both() { TELL=exec PROGRAMS=2 follows "$@" execer 'exec_*' -d "$time" --follow-exec --follow-fork; }

forks 311 fail
execs 611 fail
both 1111 kill
if [ -n "${SOAK:-}" ]; then
	forks 1 kill
	execs 1 kill
	both 1 fail
	# One that does not see an earlier session, because of a read of the target
	# (pread64), must not begin another that passes for the older one: then it would not
	# know of its children.
	ERRNO=12 ONLY=${CALL[pread64]} forks 1 fail
fi

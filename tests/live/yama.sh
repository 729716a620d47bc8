#!/bin/bash
# SPDX-License-Identifier: MIT
# yama: where a process may trace its children only (kernel.yama.ptrace_scope is 1), inject
# traces what it starts, and a process that allows it; of others the refusal says what to do.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need unshare mount
scope=/proc/sys/kernel/yama/ptrace_scope
as_nobody spin_threads
as=("${AS[@]}")

# says SCOPE PATTERN COMMAND...: what is said where the setting has this value, as a
# file tells that is in its place.
says()
{
	# shellcheck disable=SC2016 # expanded by that shell
	status 1 unshare --mount sh -c 'mount -t tmpfs none /proc/sys/kernel &&
		mkdir /proc/sys/kernel/yama && echo "$0" >'$scope' && exec "$@"' "$1" "${@:3}"
	refused "$2"
}

# The same user, but another group, which may not trace it.
AS=(setpriv --reuid=65534 --regid=65533 --clear-groups)
victim spin_threads 2
trace=("$OPEN/inject" -p "$VICTIM" -f "spin_*" -d 0.3)
says 0 'not permitted for [^,]*; try sudo$' "${as[@]}" "${trace[@]}"
says 1 'ptrace_scope is 1; try sudo, or start it: inject -f GLOB -- COMMAND' "${as[@]}" "${trace[@]}"
says 2 'not permitted for [^,]*; try sudo$' "${as[@]}" "${trace[@]}"
says 3 'ptrace_scope is 3: tracing is forbidden until' "${as[@]}" "${trace[@]}"
unharmed
victim_quit

[ "$(cat $scope 2>/dev/null)" = 1 ] ||
	skip "all but the refusals wants a kernel with Yama, and kernel.yama.ptrace_scope=1"
AS=("${as[@]}")
victim spin_threads 2
status 1 "${as[@]}" "$OPEN/inject" -p "$VICTIM" -f 'spin_*'
refused 'ptrace_scope is 1'
victim_quit
AS=("${as[@]}" "$BUILD/tests/tools/under" ptracer)
victim spin_threads 2
status 0 "${as[@]}" "$OPEN/inject" -p "$VICTIM" -f 'spin_*' -d 0.3
traced spin_leaf
removed
status 0 "${as[@]}" "$OPEN/inject" -f 'spin_*' -- "$OPEN/spin_threads" 2

#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_dispatched: threads whose system calls the kernel gives to a handler of the
# program's, as Wine's are. A call of ours would be given to it, too; such a thread is not
# borrowed, and where all are, the process is refused. Where one is not, it is traced.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip "its system calls are x86-64 code"
kernel=$(uname -r)
[ "$(printf '6.4\n%s\n' "$kernel" | sort -V | head -n 1)" = 6.4 ] ||
	skip "this kernel ($kernel) does not tell of PR_SET_SYSCALL_USER_DISPATCH"

for kind in '' beside; do
	rm -f victim.in
	victim dispatched $kind
	for _ in 1 2 3; do
		if [ "$kind" ]; then
			inject_until dispatched_work -p "$VICTIM" -f 'dispatched_*'
			removed
		else
			status 1 "$INJECT" -p "$VICTIM" -f 'dispatched_*'
			refused 'PR_SET_SYSCALL_USER_DISPATCH'
		fi
	done
	unharmed
done

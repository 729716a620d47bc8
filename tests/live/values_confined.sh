#!/bin/bash
# SPDX-License-Identifier: MIT
# values_confined: values are read of a process whose seccomp filters kill for process_vm_readv, set
# before we came or while we are there: it lives on, and what is in registers is shown.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
need gcc

under_filters() { ! grep -L '^Seccomp:.*2' "/proc/$VICTIM/task"/*/status | grep -q .; }
early=(-f 'early_*' -A 'early_work(x:u64, s:str, ret:u64)')
later=(-f 'later_*' -A 'later_work(x:u64, s:str, ret:u64)')

# Its filters let a borrowed thread work, and nothing else.
victim confined now lends
wait_until 30 under_filters || die "a thread is under no filter"
status 0 "$INJECT" -p "$VICTIM" "${early[@]}" -d 0.5
has_line 'what arguments point to is not read: a seccomp filter' trace.err ||
	die "not said: $(cat trace.err)"
grep -q 'early_work(x=[0-9]*, s=0x[0-9a-f]* (unreadable)) = [0-9]*;' trace.out ||
	grep -q 'early_work(x=[0-9]*, s=.*) = [0-9]*;' trace.out || die "no values"
removed
victim_works
victim_quit

# It sets them while its memory is read, of all threads at once.
for _ in 1 2 3; do
	rm -f victim.in
	victim confined
	inject_bg -p "$VICTIM" "${early[@]}" "${later[@]}"
	wait_until 20 has_line early_work trace.out || die "no call"
	! has_line 'is not read' trace.err || die "memory is not read: $(cat trace.err)"
	tell confine '^confined$' >/dev/null
	wait_until 20 has_line later_work trace.out || die "no call under the filter"
	victim_works
	inject_end
	removed
	has_line 'since a process was about to set a seccomp filter' trace.err || die "not said"
	victim_quit
done

# A child's filter is its own.
cat >v.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int work(const char *text) { return text[0] + text[1]; }
int main(void)
{ for (int i = 0; i < 6; i++) {
	if (work(strdup("some text")) != 's' + 'o') return 1;
	if (fork() == 0) { prctl(PR_SET_SECCOMP, 1, 0, 0, 0); _exit(0); }
	wait(NULL); }
  return 0; }
END
gcc -O1 -g -o v v.c
status 0 "$INJECT" -f work -a -o traced -- ./v
[ "$(grep -c 'work(text="some text")' traced)" = 6 ] || die "$(cat traced)"

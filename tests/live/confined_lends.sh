#!/bin/bash
# SPDX-License-Identifier: MIT
# confined_lends: all threads of a process are under seccomp filters, as in a container or
# a service, that kill for any system call but the program's own and those that a borrowed
# thread makes. It is traced, and again, also from what a killed injector has left. Where
# one of these calls is forbidden, too, it is refused by that name, and so it is where
# the filters cannot be read; nothing was done then.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
need setpriv

under_filters() { ! grep -L '^Seccomp:.*2' "/proc/$VICTIM/task"/*/status | grep -q .; }

begin()
{
	rm -f victim.in
	victim confined now lends "$@"
	wait_until 30 under_filters || die "a thread is under no filter"
}

begin
for _ in 1 2 3; do
	status 0 "$INJECT" -p "$VICTIM" -f 'early_*' -f 'later_*' -d 0.3
	traced early_work
	traced later_work
	removed
done
status 0 "$INJECT" start -p "$VICTIM" -f 'early_*'
status 0 "$INJECT" status -p "$VICTIM"
status 0 "$INJECT" stop -p "$VICTIM"
unharmed
inject_bg -p "$VICTIM" -f 'early_*' -f 'later_*' -o /dev/null
kill -KILL "$TRACER"
wait "$TRACER" || true
victim_works
status 0 "$INJECT" stop -p "$VICTIM"
unharmed

# A file is lent by a socket, which these filters kill for.
status 1 "$INJECT" start -p "$VICTIM" -f 'early_*' -o recorded
refused 'seccomp filter that forbids it system call'
unharmed
victim_quit

for call in memfd_create close rt_sigreturn restart_syscall rt_sigaction prctl gettid ppoll mmap; do
	begin "$call"
	status 1 "$INJECT" -p "$VICTIM" -f 'early_*' -d 1
	refused "its seccomp filter may kill it for $call,"
	unharmed
	victim_quit
done

begin -close
status 1 "$INJECT" -p "$VICTIM" -f 'early_*'
refused 'its seccomp filter does not allow close,'
unharmed
victim_quit

# What is no more than a question may fail.
begin -prctl
status 0 "$INJECT" -p "$VICTIM" -f 'early_*' -d 0.3
traced early_work
removed

status 1 setpriv --bounding-set -sys_admin --inh-caps -sys_admin \
	"$INJECT" -p "$VICTIM" -f 'early_*'
refused 'seccomp filter.* cannot be read: that takes CAP_SYS_ADMIN'
unharmed
victim_quit

#!/bin/bash
# SPDX-License-Identifier: MIT
# values_unasked: memory is not read by a system call where the process would wait for itself, for it
# serves its own page faults, or where it would get the call, for it handles its own.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim pager
trap_lines() { grep -c 'serve(' trace.out || true; }
inject_bg -p "$VICTIM" -f serve -f work -a
has_line 'handles its page faults or system calls itself' trace.err || die "$(cat trace.err)"
wait_until 20 has_line 'serve(at=0x[0-9a-f]* (unreadable))' trace.out || die "$(cat trace.out)"
victim_works
inject_end
removed
victim_quit

# From its start: it makes its userfaultfd while it is traced.
rm -f victim.in
mkfifo victim.in
exec 9<>victim.in
"$INJECT" -f serve -f work -a -o traced -- "$VICTIMS/pager" <victim.in >victim.out 2>trace.err &
TRACER=$!
started "$TRACER"
wait_until 30 has_line ready victim.out || die "it does not begin"
victim_works
echo quit >&9
wait "$TRACER" || die "status $?"
grep -q 'serve(at=0x' traced || die "no call"

# Its handler gets no call of ours.
rm -f victim.in
victim pager dispatch
inject_bg -p "$VICTIM" -f work -a
wait_until 20 has_line 'work(text="some text")' trace.out || die "$(cat trace.out trace.err)"
if [ "$(tell begin dispatched)" = dispatched ]; then
	victim_works
	wait_until 20 has_line 'work(text=0x[0-9a-f]* (unreadable))' trace.out || die "still read"
	victim_works
fi
inject_end
victim_works

#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_locked: a thread holds for seconds, or for as long as one looks, the lock that
# every new thread needs. While it does, nobody is lent: who sleeps over it is given back,
# and if it is not free in the end, the payload comes without a thread.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

[ "$(uname -m)" = x86_64 ] && munmap=11 || munmap=215
unmaps() { grep -qs "^$munmap " "/proc/$VICTIM/task"/*/syscall; }
lent_ms() { awk '/ lent a thread for / { sum += $(NF - 3) } END { print int(sum) }' trace.err; }

for seconds in 3 60; do
	victim unmapper $seconds
	wait_until 30 unmaps || die "nobody stands in munmap"
	status 0 "$INJECT" -v -p "$VICTIM" -f unmapper_works -d 0.5 --max-pause 2s
	traced unmapper_works
	[ "$(lent_ms)" -lt 3000 ] || die "threads were lent for $(lent_ms) ms"
	removed
	victim_quit
done

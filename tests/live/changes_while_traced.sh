#!/bin/bash
# SPDX-License-Identifier: MIT
# changes_while_traced: the target closes all its descriptors, changes its root,
# its user, or forbids that it is dumped; and it goes on as its own child, as
# daemons do. All is recorded and removed, and a later visit works.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need_root
mkdir jail

lines() { wc -l <trace.out; }
more_lines() { [ "$(lines)" -gt "$1" ]; }
begin() { rm -f victim.in && victim changer; }

for kind in close chroot setuid undump; do
	begin
	inject_bg -p "$VICTIM" -f 'change_*'
	tell $kind "^done $kind" >/dev/null
	wait_until 30 more_lines $(($(lines) + 20)) || die "$kind: nothing more is recorded"
	inject_end
	removed
	inject_until change_work -p "$VICTIM" -f 'change_*'
	removed
done

# The other way round.
for kind in close chroot setuid undump; do
	begin
	tell $kind "^done $kind" >/dev/null
	inject_until change_work -p "$VICTIM" -f 'change_*'
	removed
done

# The process that was named is gone; its child has its probes, and loses them.
begin
inject_bg -p "$VICTIM" -f 'change_*'
child=$(tell daemon '^done daemon' | cut -d' ' -f3)
started "$child"
WANT=4 inject_wait
VICTIM=$child
unharmed

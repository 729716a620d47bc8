#!/bin/bash
# SPDX-License-Identifier: MIT
# vfork_waits: the only thread stands still in vfork. That is said, with the child for which
# it waits, before anything is mapped; after that it is traced like any other.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

in_vfork() { grep -q '^State:.D' "/proc/$VICTIM/status"; }

victim vfork_waits
wait_until 30 in_vfork || die "not in vfork"
child=$(cut -d" " -f1 "/proc/$VICTIM/task/$VICTIM/children")
status 1 "$INJECT" -p "$VICTIM" -f 'wait_*' -d 1
refused "process $child (vfork_waits), of vfork or clone, shares the memory of $VICTIM "
grep -q memfd: "/proc/$VICTIM/maps" && die "something was mapped for nothing"
tell go "^child $child" >/dev/null
inject_bg -p "$VICTIM" -f 'wait_*'
gets_on 20
inject_end
grep -q wait_work trace.out || die "no calls seen"
unharmed

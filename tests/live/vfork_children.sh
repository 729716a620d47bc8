#!/bin/bash
# SPDX-License-Identifier: MIT
# vfork_children: a child that shares its parent's memory is the first to come
# to a probe on its parent's thread. Its calls are recorded as its parent's, and
# so is each call that the parent makes after it. posix_spawn works, with the
# functions probed that it calls in the child.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

victim vforker
for kind in vfork clone vfork clone; do
	inject_bg -p "$VICTIM" -f 'share_*'
	made=$(tell $kind '^done' | cut -d' ' -f2)
	inject_end
	removed
	[ "$(closing calls)" = "$made" ] || die "$kind: $made calls made, $(closing calls) recorded"
	[ "$(closing lost)" = 0 ] || die "$kind: $(closing lost) lost"
done
libc='@libc.so*'
[[ ${KIND:-} != *static* ]] || libc=	# its functions are the program's
inject_bg -p "$VICTIM" -f "sig*$libc" -f "exec*$libc" -f "*spawn*$libc" -f 'share_*' \
	-f "vfork$libc" -f "clone*$libc" -f "__clone*$libc"
for _ in 1 2 3 4 5; do
	tell spawn '^done' >/dev/null
done
tell vfork '^done' >/dev/null
inject_end
removed
# The child is in them, too, and leaves them first.
traced 'vfork()'
# Without debug information the C library has no name for this one.
if "$INJECT" list -p "$VICTIM" -f "__clone_internal$libc" >/dev/null 2>&1; then
	traced '__clone_internal()'
fi

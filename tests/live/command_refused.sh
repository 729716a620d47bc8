#!/bin/bash
# SPDX-License-Identifier: MIT
# command_refused: a program that cannot be probed is refused by name before it
# has begun, and nothing of it is left.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# no_child PATTERN COMMAND...: status 125, one line, and no process of it.
no_child()
{
	local pid

	status 125 "$INJECT" -f '*' -o /dev/null -- "${@:2}"
	refused "$1"
	pid=$(sed -n 's/.*cannot attach to \([0-9]*\).*/\1/p' trace.err)
	[ -z "$pid" ] || [ ! -e "/proc/$pid" ] || die "process $pid is left"
}

cat >short.s <<'S'
.globl _start
_start:	mov $1, %eax
	xor %ebx, %ebx
	int $0x80
S
if as --32 -o short.o short.s && ld -m elf_i386 -o short short.o && ./short; then
	no_child '32-bit' ./short
fi
# Its privileges would be taken from it, for we are not root; without tracing it would
# have them.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 .
	cp "$(command -v id)" other
	chown 1:1 other
	chmod 4755 other
	cp "$BUILD/inject" inject
	user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	if [ "$("${user[@]}" ./other -u)" = 1 ]; then
		status 125 "${user[@]}" ./inject -f '*' -o /dev/null -- ./other -u
		refused 'set-user-ID'
	fi
	# Root may trace anything, so nothing is taken.
	status 0 "$INJECT" -f '*' -o /dev/null -- ./other -u
	has_line '^1$' trace.out || die "the program has not got its user"
fi

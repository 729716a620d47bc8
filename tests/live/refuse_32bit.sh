#!/bin/bash
# SPDX-License-Identifier: MIT
# refuse_32bit: a process of another word size.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# nanosleep, for a minute: no 32-bit C library is needed for that.
cat >short.s <<'S'
.globl _start
_start:	mov $162, %eax
	mov $time, %ebx
	xor %ecx, %ecx
	int $0x80
	mov $1, %eax
	xor %ebx, %ebx
	int $0x80
time:	.long 60, 0
S
as --32 -o short.o short.s && ld -m elf_i386 -o short short.o || skip "no 32-bit assembler here"
./short &
pid=$!
started "$pid"
wait_until 5 executes "$pid" short || skip "the kernel runs no 32-bit programs"
status 1 "$INJECT" -p $pid -f '*'
refused '32-bit'
kill -0 $pid || die "the target has ended"

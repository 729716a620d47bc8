#!/bin/bash
# SPDX-License-Identifier: MIT
# list_tables: in a segment that may run lie a file's tables, too. What only loaders, unwinders and
# tracers read of these is no code: what looks like a jump there costs no exit. Of other data it does,
# for a program may have code there.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

need gcc

# listed SECTION
listed()
{
	cat >p.s <<-S
	.globl C
	.type C, @function
	C: mov %edi, %eax
	inc %eax
	inc %eax
	.Lret: ret
	.size C, . - C
	.byte 0xf4, 0xf4, 0xf4, 0xf4
	.section $1, "a"
	.skip 16, 0x90
	jmp .Lret
	S
	gcc -nostdlib -static -Wl,-z,noseparate-code,-e,C -o p p.s || die "no program"
	readelf -lW p | awk '$1 == "LOAD" && /R E/ { n++ } END { exit n != 1 }' || die "not one segment"
	status 0 "$INJECT" list -f C ./p
}

listed .gcc_except_table
has_line '	C	jump	1 jump$' trace.out || die "an exit is lost: $(cat trace.out)"
listed .rodata
has_line '	C	[a-z]*	entry-only: exit-no-room$' trace.out || die "a jump in data is not seen: $(cat trace.out)"

#!/bin/bash
# SPDX-License-Identifier: MIT
# bound_not_found: what real libraries have, and what bound them without reason: nops behind a
# string that looks like a branch into them; loops of code to which only a pointer leads; an index
# that overflows; numbers that are by chance where code or padding is; and words that are copied, in
# a large frame, by vectors.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

command -v as >/dev/null && command -v ld >/dev/null || skip "no assembler"

# bound FILE: does any instruction of it bind it?
bound()
{
	"$INJECT" list "$1" -f '*' >listed 2>trace.err || die "list $1: $(cat trace.err)"
	[ -s listed ] || die "nothing is listed of $1"
	grep -q 'may lead to any other' trace.err
}

# make NAME LINK-OPTION...: of standard input, with a macro for a function.
make()
{
	{ printf '%s\n' '.macro FUNC name' '.p2align 4' '.globl \name' '.type \name, @function' \
		'\name:' .endm '.macro END name' '.size \name, . - \name' .endm \
		.text; cat; } >"$1.s"
	as -o "$1.o" "$1.s" && ld "${@:2}" -o "$1" "$1.o" || die "cannot make $1"
}

# not_bound NAME LINK-OPTION...: and it is not.
not_bound()
{
	make "$@"
	bound "$1" && die "$1 is bound: $(cat trace.err)"
	true
}

# The end of RC4_options() of OpenSSL, with the nops behind it.
not_bound string -shared <<'ASM'
FUNC options
lea .Lopts(%rip), %rax
add $12, %rax
repz ret
.p2align 6
.Lopts: .asciz "rc4(8x,int)"
.asciz "rc4(8x,char)"
.asciz "rc4(16x,int)"
.asciz "RC4 for x86_64, CRYPTOGAMS by <appro@openssl.org>"
.p2align 6
END options
FUNC next
ret
END next
ASM

# A loop below whose begin no code falls, and a second routine right behind the first.
not_bound loops -shared <<'ASM'
FUNC f
jmp *table(%rip)
END f
.Lone: push %rbx
push %rbp
mov (%rdi), %rbx
add %rsi, %rbx
push %rbx
jmp 2f
1: add (%rdi), %rbx
mov %rbx, (%rsp)
dec %esi
2: test %esi, %esi
jne 1b
add $8, %rsp
pop %rbp
pop %rbx
ret
.Ltwo: push %rbx
mov (%rdi), %rbx
add %rsi, %rbx
push %rbx
1: add (%rsp), %rbx
dec %esi
jne 1b
add $8, %rsp
pop %rbx
ret
.section .data.rel.ro, "aw"
table: .quad .Lone, .Ltwo
ASM

# gcc leaves a way on which an index has overflown.
not_bound far -shared -Bsymbolic <<'ASM'
FUNC f
push %rbp
mov %rsp, %rbp
test %esi, %esi
js 1f
pop %rbp
ret
1: or %rcx, 0x1fffff08(%rbp)
mov %rcx, 0x1fffff08(%rbp)
pop %rbp
ret
END f
FUNC g
call f
ret
END g
ASM

# Linked to one address: a mask, of which a bit is taken, is where nops are.
not_bound mask -Ttext=0x401000 -e f <<'ASM'
FUNC f
mov $0x401047, %edx
mov %edi, %ecx
shr %cl, %rdx
and $1, %dl
je 1f
mov $1, %eax
1: ret
END f
.org 0x41, 0x90
.org 0x47, 0x90
FUNC g
ret
END g
ASM

# The same: a number that is marked by its highest bit, where an instruction begins.
not_bound marked -Ttext=0x401000 -e f <<'ASM'
FUNC f
sub $24, %rsp
movl $0x401042, 8(%rsp)
mov 8(%rsp), %edx
and $0x1fffffff, %edx
or $0x80000000, %edx
call g
add $24, %rsp
ret
END f
.org 0x40, 0xcc
FUNC g
mov %edi, %eax
add %edx, %eax
ret
END g
ASM

# A word that is called comes by a vector, into a frame of many words that are not asked for.
not_bound vectors -shared <<'ASM'
FUNC f
push %rbx
sub $4096, %rsp
.set n, 0
.rept 120
lea 1(%rdi,%rsi), %rax
mov %rax, 1024 + 8 * n(%rsp)
mov 1024 + 8 * n(%rsp), %rbx
mov %rbx, (%rdx)
.set n, n + 1
.endr
mov %rdx, 512(%rsp)
mov %rdx, 520(%rsp)
test %esi, %esi
je 1f
movups 512(%rsp), %xmm0
jmp 2f
1: xorps %xmm0, %xmm0
2: movups %xmm0, 256(%rsp)
mov 256(%rsp), %rax
test %rax, %rax
je 3f
call *%rax
3: add $4096, %rsp
pop %rbx
ret
END f
ASM

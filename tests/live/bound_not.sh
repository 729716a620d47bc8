#!/bin/bash
# SPDX-License-Identifier: MIT
# bound_not: what cannot lead into code binds no module: bytes of a section of data in a
# segment that may run, read as instructions; entries of one byte, by which code goes on a
# way that control never takes; a second jump by a table that the first one leads to, as
# printf() of older glibc has them; and frames that are made page by page (gcc's
# -fstack-clash-protection, with which distributions build); a character of a string, of
# which an object says where it is; data between instructions; numbers that are made of
# addresses; a switch whose table is passed; and what stands before the table of one.
# shellcheck source=tests/lib.sh
. "$ROOT/tests/lib.sh"

# bound FILE: does any instruction of it bind it?
bound()
{
	"$INJECT" list "$1" -f '*' >listed 2>trace.err || die "list $1: $(cat trace.err)"
	[ -s listed ] || die "nothing is listed of $1"
	grep -q 'may lead to any other' trace.err
}

# link NAME: the library that NAME.s is.
link()
{
	as -o "$1.o" "$1.s" && ld -shared -o "$1" "$1.o" || die "cannot make $1"
}

command -v as >/dev/null && command -v ld >/dev/null || skip "no assembler"

# What `.Lbehind` names, behind all functions, is data if the section says so, and else code.
make_data()
{
	cat >"$1.s" <<-END
		.text
		.globl f
		.type f, @function
		f: .Lf: .cfi_startproc
		mov %edi, %eax
		add \$1, %eax
		jmp tail
		.cfi_endproc
		.size f, . - f
		tail: jmp *%rdi
		.data
		.quad .Lbehind
		.section $2
		.Lbehind:
		lea .Lf(%rip), %rax
		add %rcx, %rax
		jmp *%rax
	END
	as -o "$1.o" "$1.s" && ld -shared -z noseparate-code -o "$1" "$1.o" || die "cannot make $1"
}

make_data data.so '.rodata, "a"'
bound data.so && die "data binds: $(cat trace.err)"
make_data code.so '.behind, "ax"'
bound code.so || die "code that computes an address binds nothing"

# A byte of the frame may be what is called, as far as can be seen: nothing is so low.
cat >low.s <<-'END'
	.text
	.globl f
	.type f, @function
	f: .cfi_startproc
	lea .Lg(%rip), %rbx
	test %esi, %esi
	je 1f
	movzbl -16(%rsp,%rdi), %ebx
	1: jmp *%rbx
	.cfi_endproc
	.size f, . - f
	.globl g
	.type g, @function
	g: .Lg: .cfi_startproc
	ret
	.cfi_endproc
	.size g, . - g
END
as -o low.o low.s && ld -shared -o low.so low.o || die "cannot make low.so"
bound low.so && die "a byte binds: $(cat trace.err)"
sed 's/movzbl\(.*\)%ebx/movslq\1%rbx; lea (,%rbx,8), %rbx/' low.s >wide.s
as -o wide.o wide.s && ld -shared -o wide.so wide.o || die "cannot make wide.so"
bound wide.so || die "a number of four bytes binds nothing"

# A function may write to its arguments.
cat >argument.s <<-'END'
	.text
	.globl f
	.type f, @function
	f: .cfi_startproc
	push %rdi
	.cfi_def_cfa_offset 16
	call g
	pop %rdi
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size f, . - f
	.globl g
	.type g, @function
	g:	.cfi_startproc
	addq $2, 8(%rsp)
	ret
	.cfi_endproc
	.size g, . - g
END
as -o argument.o argument.s && ld -shared -Bsymbolic -o argument.so argument.o ||
	die "cannot make argument.so"
bound argument.so && die "an argument binds: $(cat trace.err)"
sed 's/push %rdi/nop/; s/pop %rdi/nop/; s/offset 16/offset 8/' argument.s >frame.s
as -o frame.o frame.s && ld -shared -Bsymbolic -o frame.so frame.o || die "cannot make frame.so"
bound frame.so || die "a way back of the caller binds nothing"

# numbers NAME SECTION: words that lead into their own section, or nowhere, and behind them
# one that is a distance to the second instruction of f.
numbers()
{
	cat >"$1.s" <<-END
		.text
		.globl f
		.type f, @function
		f: .cfi_startproc
		mov %edi, %eax
		.Lsecond: add \$1, %eax
		lea .Lnumbers(%rip), %rdx
		ret
		.cfi_endproc
		.size f, . - f
		.section $2
		.zero 64
		.Lnumbers: .long 8, 16, 12, 20, 16, 8
		.long .Lsecond - .Lnumbers
		.zero 64
	END
	as -o "$1.o" "$1.s" && ld -shared -z noseparate-code -o "$1" "$1.o" || die "cannot make $1"
	"$INJECT" list -v "$1" -f f >listed 2>trace.err || die "list $1: $(cat trace.err)"
}

# steps NAME INSTRUCTION: at .Lone, which the first jump leads to, r8 has the second one's table
# of distances from .Lbase.
steps()
{
	cat >"$1.s" <<-END
		.text
		.globl f
		.type f, @function
		f: .cfi_startproc
		lea .Lbase(%rip), %rdx
		$2, %r8
		lea .Lfirst(%rip), %rcx
		movzbl (%rdi), %eax
		movslq (%rcx,%rax,4), %rax
		add %rdx, %rax
		jmp *%rax
		.Lone:
		inc %rdi
		movzbl (%rdi), %eax
		lea .Lbase(%rip), %rdx
		movslq (%r8,%rax,4), %rax
		add %rdx, %rax
		jmp *%rax
		.Ltwo: dec %esi
		jne .Lone
		.Lbase: ret
		.cfi_endproc
		.size f, . - f
		.section .rodata
		.Lfirst: .long .Lone - .Lbase, .Ltwo - .Lbase, .Lbase - .Lbase
		.zero 1024
		.Lsecond: .long .Ltwo - .Lbase, .Lbase - .Lbase
		.zero 1024
	END
	link "$1"
}

steps steps.so 'lea .Lsecond(%rip)'
bound steps.so && die "a table that is kept across a jump binds: $(cat trace.err)"
steps any.so 'mov (%rsi)'
bound any.so || die "a table of which nothing is known binds nothing"

# character NAME WORD: what f returns may be the second instruction of g, if some word says so.
character()
{
	cat >"$1.s" <<-END
		.text
		.globl f
		.type f, @function
		f: .cfi_startproc
		movslq 16(%rdi), %rax
		lea .Lstring(%rip), %rdx
		add %rdx, %rax
		ret
		.cfi_endproc
		.size f, . - f
		.globl g
		.type g, @function
		g: .cfi_startproc
		mov %edi, %eax
		.Lsecond: add \$1, %eax
		ret
		.cfi_endproc
		.size g, . - g
		.section .rodata
		.byte 0
		.Lstring: .string "8bvn-~=ld"
		.long $2
	END
	link "$1"
}

character string.so 17
bound string.so && die "a character of a string binds: $(cat trace.err)"
grep -q '	g	jump	' listed || die "nothing leads into g: $(cat listed)"
character distance.so '.Lsecond - .Lstring'
bound distance.so && die "a distance that is found binds: $(cat trace.err)"
grep -q '	g	jump	' listed && die "a distance leads into g: $(cat listed)"

# Strings that follow one another, by a table of where each begins: where that ends is not told.
cat >strings.so.s <<-'END'
	.text
	.globl f
	.type f, @function
	f: .Lf: .cfi_startproc
	lea .Lbegins(%rip), %rax
	movslq (%rax,%rdi,4), %rax
	lea .Lstrings(%rip), %rdx
	add %rdx, %rax
	ret
	.cfi_endproc
	.size f, . - f
	.section .rodata
	.Lstrings: .string "no error", "no memory"
	.balign 4
	.Lbegins: .long 0, 9, .Lf - .Lstrings
END
link strings.so
bound strings.so && die "a table of strings binds: $(cat trace.err)"

# Behind a call that never comes back stands what a branch of f leads into the middle of; and behind
# the end of h what h names, and what is no instruction.
between()
{
	cat >"$1.s" <<-END
		.text
		.globl f
		.type f, @function
		f: .cfi_startproc
		test %edi, %edi
		jne 1f
		sub \$8, %rsp
		call g
		.byte 5, 5, 5
		1: mov %rdi, %r8
		mov 8(%rdi), %rdx
		jmp *%rdx
		.cfi_endproc
		.size f, . - f
		.globl g
		.type g, @function
		g: .cfi_startproc
		ud2
		.cfi_endproc
		.size g, . - g
		.globl h
		.type h, @function
		h: .cfi_startproc
		lea .Lname(%rip), %rax
		test %edi, %edi
		je 1f
		add \$7, %rax
		1: ret
		.p2align 4
		.Lname: .asciz "rc4(8x,int)"
		.byte 0x06, 0x0e, 0x16, 0x82
		.zero 16
		.cfi_endproc
		.size h, . - h
	END
	link "$1"
}

between between.so
bound between.so && die "data between instructions bind: $(cat trace.err)"

# rbx is a function's address where it is called, or a number where it is not.
calls()
{
	cat >"$1.s" <<-END
		.text
		.globl f
		.type f, @function
		f: .cfi_startproc
		push %rbx
		.cfi_adjust_cfa_offset 8
		mov \$5, %ebx
		test %edi, %edi
		je 1f
		lea .Lg(%rip), %rbx
		2: call *%rbx
		rdtsc
		call *%rbx
		pop %rbx
		ret
		1: call .Lg
		sub \$1, %ebx
		jne 1b
		jmp 2b
		.cfi_endproc
		.size f, . - f
		.globl g
		.type g, @function
		g: .Lg: .cfi_startproc
		mov %edi, %eax
		ret
		.cfi_endproc
		.size g, . - g
	END
	link "$1"
}

calls calls.so
bound calls.so && die "a call that goes by no number binds: $(cat trace.err)"

# f makes a random number of where it is; g keeps the entry of a switch's table for a while.
numbers_of()
{
	cat >"$1.s" <<-END
		.text
		.globl f
		.type f, @function
		f: .Lf: .cfi_startproc
		push %rbp
		.cfi_adjust_cfa_offset 8
		lea .Lf(%rip), %rbp
		xor %rdi, %rbp
		mov %rbp, %rax
		shr \$30, %rax
		xor %rbp, %rax
		imul %rsi, %rax
		mov %rax, (%rdx)
		pop %rbp
		.cfi_adjust_cfa_offset -8
		ret
		.cfi_endproc
		.size f, . - f
		.globl g
		.type g, @function
		g: .cfi_startproc
		sub \$24, %rsp
		.cfi_adjust_cfa_offset 24
		cmp \$2, %rdi
		ja 1f
		lea .Ltable(%rip), %rax
		movslq (%rax,%rdi,4), %rax
		mov %rax, 8(%rsp)
		mov %edx, 4(%rsp)
		lea .Ltable(%rip), %rax
		add 8(%rsp), %rax
		jmp *%rax
		2: inc %esi
		3: inc %esi
		1: mov %esi, %eax
		add \$24, %rsp
		.cfi_adjust_cfa_offset -24
		ret
		.cfi_endproc
		.size g, . - g
		.section .rodata
		.p2align 2
		.Ltable: .long 1b - .Ltable, 2b - .Ltable, 3b - .Ltable
	END
	link "$1"
}

numbers_of hash.so
bound hash.so && die "a random number or an entry that is kept binds: $(cat trace.err)"
sed 's/xor %rdi, %rbp/add %rdi, %rbp/' hash.so.s >sum.so.s
as -o sum.o sum.so.s && ld -shared -o sum.so sum.o || die "cannot make sum.so"
bound sum.so || die "a sum of an address of code binds nothing"

# The word that is added to is of the frame, or (16392) the way back.
frame()
{
	cat >"$1.s" <<-END
		.text
		.globl f
		.type f, @function
		f: .cfi_startproc
		push %rbx
		.cfi_def_cfa_offset 16
		lea -16384(%rsp), %r11
		.cfi_def_cfa r11, 16400
		1: sub \$4096, %rsp
		orq \$0, (%rsp)
		cmp %r11, %rsp
		jne 1b
		.cfi_def_cfa_register 7
		addq \$1, $2(%rsp)
		2: test %edi, %edi
		je 3f
		call *%rsi
		dec %edi
		jmp 2b
		3: add \$16384, %rsp
		.cfi_def_cfa_offset 16
		pop %rbx
		.cfi_def_cfa_offset 8
		ret
		.cfi_endproc
		.size f, . - f
	END
	link "$1"
}

frame paged.so 4104
bound paged.so && die "a frame that is made page by page binds: $(cat trace.err)"
frame changed.so 16392
bound changed.so || die "a way back that is changed binds nothing"

# passed NAME BASE: f goes by a table that it is passed, of distances from BASE.
passed()
{
	cat >"$1.s" <<-END
		.text
		.globl f
		.type f, @function
		f: .Lf: .cfi_startproc
		movslq (%rdi,%rsi,4), %rax
		add %$2, %rax
		jmp *%rax
		.Lone: mov \$1, %eax
		ret
		.Ltwo: mov \$2, %eax
		ret
		.cfi_endproc
		.size f, . - f
		.globl g
		.type g, @function
		g: .cfi_startproc
		lea .Ltable(%rip), %rdi
		jmp .Lf
		.cfi_endproc
		.size g, . - g
		.section .rodata
		.balign 4
		.Ltable: .long .Lone - .Ltable, .Ltwo - .Ltable
	END
	link "$1"
}

passed passed.so rdi
bound passed.so && die "a table that is passed binds: $(cat trace.err)"
passed other.so rdx
bound other.so || die "distances from what is passed bind nothing"

numbers numbers.so '.rodata, "a"'
grep -q '	jump	' listed || die "numbers that lead to data are distances: $(cat listed)"
numbers table.so '.behind, "ax"'
grep -q '	jump	' listed && die "a table in code is none: $(cat listed)"

# Before a switch's table another one ends, whose last entry would lead into the middle of an
# instruction; a word leads to where that begins.
cat >before.so.s <<-'END'
	.text
	.globl f
	.type f, @function
	f: .cfi_startproc
	cmp $1, %edi
	ja 2f
	mov %edi, %edi
	lea table(%rip), %rdx
	movslq (%rdx,%rdi,4), %rax
	add %rdx, %rax
	jmp *%rax
	1: mov $1, %eax
	ret
	2: mov $2, %eax
	ret
	3: movabs $0x90909090c3909090, %rax
	ret
	.cfi_endproc
	.size f, . - f
	.section .rodata
	.balign 4
	.long 3b - .
	.long 3b + 2 - table
	table: .long 1b - table, 2b - table
END
link before.so
bound before.so && die "an entry before a table binds: $(cat trace.err)"

# C libraries of other releases, as far as tools/glibcs.sh has brought them.
for libc in "$BUILD"/glibc/*/root/lib/x86_64-linux-gnu/libc.so.6; do
	[ ! -e "$libc" ] || ! bound "$libc" || die "$libc is bound: $(cat trace.err)"
done

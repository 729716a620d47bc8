/* SPDX-License-Identifier: MIT */
/*
 * usdt: places for tracers (sys/sdt.h), with and without semaphores, and where the nop is
 * followed by one of five or of ten bytes.
 *
 * Command "semaphores" -> semaphores TICK TOCK: what they are now.
 * Command "run N" -> ran N tick N tock N: so many rounds; how often it has made the arguments of
 * tick and tock meanwhile.
 * Command "set N" -> set N: of tick, as another tracer would.
 * Command "kept N" -> kept N: us:registers, with arguments in registers of each kind, and with all
 * of them, the flags and what is below the stack pointer in use; it fails if one has changed.
 * Command "fork" -> child PID: which answers instead, until "back" -> back.
 */
#include <sys/wait.h>

#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#endif

#include "tests/victims/usdt.h"
#include "tests/victims/victim.h"

SEMAPHORE(us_tick_semaphore);
SEMAPHORE(us_tock_semaphore);

#ifndef DTRACE_PROBE1
#define DTRACE_PROBE1(provider, name, value) PLACE(#name, "0", "", value)
#endif

static unsigned long ticks, tocks;

PROBED void us_round(unsigned long i)
{
	DTRACE_PROBE1(us, plain, i);
	if (__builtin_expect(us_tick_semaphore, 0)) {
		ticks++;
		PLACE("tick", "us_tick_semaphore", "", i);
	}
	if (__builtin_expect(us_tock_semaphore, 0)) {
		tocks++;
		PLACE("tock", "us_tock_semaphore", NOP5, i);
	}
	if (i & 1)
		PLACE("twice", "0", NOP10, i + 1);
	PLACE("twice", "0", NOP5, i);
	victim_count();
}

#ifdef __x86_64__
/* Registers have numbers made of `seed`, and are compared behind the place. */
__asm__(
"	.data\n"
"us_word: .quad 0x1122334455667788\n"
"us_words: .quad 11, -22, 33, -44\n"
"	.text\n"
"	.globl us_kept\n	.type us_kept, @function\n	.p2align 4\n"
"us_kept:\n"
"	.cfi_startproc\n"
"	push %rbx\n	.cfi_adjust_cfa_offset 8\n	.cfi_rel_offset rbx, 0\n"
"	push %rbp\n	.cfi_adjust_cfa_offset 8\n	.cfi_rel_offset rbp, 0\n"
"	mov %rdi, %rax\n"
"	mov %rdi, -8(%rsp)\n"
"	mov %rdi, -128(%rsp)\n"
"	lea us_words(%rip), %r8\n"
"	and $3, %edi\n"
"	mov %rdi, %r9\n"
"	.irp r, rbx, rcx, rdx, rsi, rdi, rbp, r10, r11\n"
"	imul $0x4c957f2d, %rax\n"
"	add $12345, %rax\n"
"	mov %rax, %\\r\n"
"	.endr\n"
"	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
"	lea \\n(%rax), %rax\n"
"	cvtsi2sd %eax, %xmm\\n\n"
"	.endr\n"
"	mov $0x1234, %eax\n"
"	stc\n"
"990:	nop\n"
"	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
"	jnc 3f\n"
"	cmp $0x1234, %rax\n	jne 3f\n"
"	mov -8(%rsp), %rax\n"
"	cmp %rax, -128(%rsp)\n	jne 3f\n"
"	push %r9\n	.cfi_adjust_cfa_offset 8\n"
"	.irp r, rbx, rcx, rdx, rsi, rdi, rbp, r10, r11\n"
"	imul $0x4c957f2d, %rax\n"
"	add $12345, %rax\n"
"	cmp %rax, %\\r\n	jne 2f\n"
"	.endr\n"
"	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
"	lea \\n(%rax), %rax\n"
"	cvttsd2si %xmm\\n, %r9d\n"
"	cmp %eax, %r9d\n	jne 2f\n"
"	.endr\n"
"	pop %r9\n	.cfi_adjust_cfa_offset -8\n"
"	lea us_words(%rip), %rax\n"
"	cmp %rax, %r8\n	jne 3f\n"
"	mov %r9d, %eax\n"
"	jmp 4f\n"
"2:	pop %r9\n"
"3:	mov $-1, %eax\n"
"4:	pop %rbp\n	.cfi_adjust_cfa_offset -8\n	.cfi_restore rbp\n"
"	pop %rbx\n	.cfi_adjust_cfa_offset -8\n	.cfi_restore rbx\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size us_kept, . - us_kept\n"
"	.pushsection .note.stapsdt,\"\",\"note\"\n"
"	.balign 4\n"
"	.4byte 992f-991f, 994f-993f, 3\n"
"991: .asciz \"stapsdt\"\n"
"992: .balign 4\n"
"993: .8byte 990b\n"
"	.8byte 0\n"
"	.8byte 0\n"
"	.asciz \"us\"\n"
"	.asciz \"registers\"\n"
"	.asciz \"8@-8(%rsp) -8@(%r8,%r9,8) 1@%ah -1@%al 8@us_word(%rip) 2@us_word+2(%rip) "
		"-4@$-5 8f@%xmm0 8f@%xmm7 8f@%xmm8 8f@%xmm15 -8@%r9\"\n"
"994: .balign 4\n"
"	.popsection\n");

int us_kept(unsigned long seed);
#elif defined(__aarch64__)
/* All but x0, x8 and x9. */
#define US_FREE "1,2,3,4,5,6,7,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30"
#define US_VECTORS "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"
__asm__(
"	.data\n"
"us_words: .quad 11, -22, 33, -44\n"
"	.text\n"
/* The next number of those made of x0. */
"	.macro us_next r\n"
"	movz \\r, #0x7f2d\n"
"	movk \\r, #0x4c95, lsl #16\n"
"	mul \\r, x0, \\r\n"
"	add \\r, \\r, #0x39\n"
"	add \\r, \\r, #3, lsl #12\n"
"	.endm\n"
"	.globl us_kept\n	.type us_kept, %function\n	.p2align 4\n"
"us_kept:\n"
"	.cfi_startproc\n"
"	stp x29, x30, [sp, #-128]!\n	.cfi_def_cfa_offset 128\n"
"	.cfi_offset 29, -128\n	.cfi_offset 30, -120\n"
"	stp x19, x20, [sp, #16]\n"
"	stp x21, x22, [sp, #32]\n"
"	stp x23, x24, [sp, #48]\n"
"	stp x25, x26, [sp, #64]\n"
"	stp x27, x28, [sp, #80]\n"
"	stp x0, x0, [sp, #96]\n"
"	adrp x8, us_words\n"
"	add x8, x8, :lo12:us_words\n"
"	and x9, x0, #3\n"
"	stp d8, d9, [sp, #-64]!\n	.cfi_adjust_cfa_offset 64\n"
"	stp d10, d11, [sp, #16]\n"
"	stp d12, d13, [sp, #32]\n"
"	stp d14, d15, [sp, #48]\n"
"	.irp n, " US_FREE "\n"
"	us_next x\\n\n"
"	mov x0, x\\n\n"
"	.endr\n"
"	.irp n, " US_VECTORS "\n"
"	add x0, x0, #\\n\n"
"	scvtf d\\n, w0\n"
"	.endr\n"
"	mov w0, #0xb0000000\n"			/* N, C and V, but not Z */
"	msr nzcv, x0\n"
"	mov x0, #0x234\n"
"990:	nop\n"
"	b.pl 2f\n	b.cc 2f\n	b.vc 2f\n	b.eq 2f\n"
"	cmp x0, #0x234\n	b.ne 2f\n"
"	str x9, [sp, #176]\n"
"	ldp x0, x9, [sp, #160]\n"
"	cmp x0, x9\n	b.ne 2f\n"
"	.irp n, " US_FREE "\n"
"	us_next x9\n"
"	cmp x9, x\\n\n	b.ne 2f\n"
"	mov x0, x9\n"
"	.endr\n"
"	.irp n, " US_VECTORS "\n"
"	add x0, x0, #\\n\n"
"	fcvtzs w9, d\\n\n"
"	cmp w9, w0\n	b.ne 2f\n"
"	.endr\n"
"	adrp x0, us_words\n"
"	add x0, x0, :lo12:us_words\n"
"	cmp x0, x8\n	b.ne 2f\n"
"	ldr x0, [sp, #176]\n"
"	b 3f\n"
"2:	mov w0, #-1\n"
"3:	ldp d14, d15, [sp, #48]\n"
"	ldp d12, d13, [sp, #32]\n"
"	ldp d10, d11, [sp, #16]\n"
"	ldp d8, d9, [sp], #64\n	.cfi_adjust_cfa_offset -64\n"
"	ldp x27, x28, [sp, #80]\n"
"	ldp x25, x26, [sp, #64]\n"
"	ldp x23, x24, [sp, #48]\n"
"	ldp x21, x22, [sp, #32]\n"
"	ldp x19, x20, [sp, #16]\n"
"	ldp x29, x30, [sp], #128\n	.cfi_def_cfa_offset 0\n	.cfi_restore 29\n	.cfi_restore 30\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size us_kept, . - us_kept\n"
"	.pushsection .note.stapsdt,\"\",\"note\"\n"
"	.balign 4\n"
"	.4byte 992f-991f, 994f-993f, 3\n"
"991: .asciz \"stapsdt\"\n"
"992: .balign 4\n"
"993: .8byte 990b\n"
"	.8byte 0\n"
"	.8byte 0\n"
"	.asciz \"us\"\n"
"	.asciz \"registers\"\n"
"	.asciz \"8@[sp, 160] -8@[x8, x9, lsl 3] 2@w0 -1@w0 8@x16 8@x17 8@x30 -4@-5 8f@d0 8f@d31 "
		"-8@[x8, 8] -8@x9\"\n"
"994: .balign 4\n"
"	.popsection\n");

int us_kept(unsigned long seed);
#endif

static void keep(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		if (us_kept(i) != (int)(i & 3)) {
			victim_say("not kept %lu", i);
			_exit(3);
		}
	victim_say("kept %lu", n);
}

static bool child;

static void fork_one(void)
{
	pid_t pid = fork();

	if (pid < 0)
		_exit(3);
	if (!pid) {
		child = true;
		victim_say("child %d", getpid());
		return;
	}
	waitpid(pid, NULL, 0);
	victim_say("back");
}

static void each(const char *command)
{
	unsigned long n = 0;

	if (strcmp(command, "fork") == 0) {
		fork_one();
	} else if (strcmp(command, "back") == 0 && child) {
		_exit(0);
	} else if (strcmp(command, "semaphores") == 0) {
		victim_say("semaphores %u %u",
			   __atomic_load_n(&us_tick_semaphore, __ATOMIC_RELAXED),
			   __atomic_load_n(&us_tock_semaphore, __ATOMIC_RELAXED));
	} else if (sscanf(command, "set %lu", &n) == 1) {
		us_tick_semaphore = (unsigned short)n;
		victim_say("set %lu", n);
	} else if (sscanf(command, "kept %lu", &n) == 1) {
		keep(n);
	} else if (sscanf(command, "run %lu", &n) == 1) {
		ticks = tocks = 0;
		for (unsigned long i = 0; i < n; i++)
			us_round(i);
		victim_say("ran %lu tick %lu tock %lu", n, ticks, tocks);
	}
}

int main(void)
{
	victim_say("ready");
	while (victim_poll(20, each))
		victim_count();
	return 0;
}

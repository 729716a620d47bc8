/* SPDX-License-Identifier: MIT */
/*
 * native: one x86-64 instruction, run by the processor itself.
 *
 * It begins with all general registers, vectors, flags and an area of memory as they are
 * given, and what it leaves in them is kept. Around the area nothing is mapped, and all
 * of it lies low enough for an address of four bytes. The base of gs is in the area, too.
 */
#ifndef TESTS_PATCH_NATIVE_H
#define TESTS_PATCH_NATIVE_H

#include "base/base.h"

#include <asm/prctl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

enum {
	RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, GPRS = 16,
	NATIVE_PAGE = 4096,
	NATIVE_AREA = 8192,
	NATIVE_VECTORS = 8192,	/* what xrstor reads of them */
	NATIVE_KEEPS = 0xe7,	/* x87, xmm, ymm, masks, zmm: what xrstor loads, if it is there */
	NATIVE_ZMM = 0xe0,	/* of these what EVEX needs */
	NATIVE_XMM = 160,	/* where they are in what fxsave writes */
	NATIVE_MM = 32,
};

/* What a thread has. Laid out for the assembly below. */
struct native_state {
	uint64_t gpr[GPRS];
	uint64_t flags;		/* offset 128 */
	uint64_t pad[7];
	uint8_t fx[512];	/* offset 192 */
} __attribute__((aligned(64)));

struct native_state native_in, native_out;
uint8_t native_vectors[NATIVE_VECTORS] __attribute__((aligned(64)));
uint8_t native_host_fx[512] __attribute__((aligned(64)));
uint64_t native_host_sp, native_keeps;
void *native_at;

static uint8_t *native_code, *native_far, *native_area;
static volatile bool native_running;
static volatile int native_signal;

void native_enter(void);
extern char native_way[], native_back[];

/* Load native_in, jump to native_at; the code comes back by native_way, and native_out holds
 * what it left, or by native_back. */
__asm__(
"	.text\n"
"	.globl native_enter, native_way, native_back\n"
"native_enter:\n"
"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
"	pushfq\n"
"	mov %rsp, native_host_sp(%rip)\n"
"	fxsave64 native_host_fx(%rip)\n"
"	mov native_keeps(%rip), %rax\n"
"	xor %edx, %edx\n"
"	test %rax, %rax\n"
"	jz 1f\n"
"	xrstor64 native_vectors(%rip)\n"
"	jmp 2f\n"
"1:	fxrstor64 native_vectors(%rip)\n"
"2:	push native_in+128(%rip)\n"
"	popfq\n"
"	mov native_in+0(%rip), %rax\n"
"	mov native_in+8(%rip), %rcx\n"
"	mov native_in+16(%rip), %rdx\n"
"	mov native_in+24(%rip), %rbx\n"
"	mov native_in+32(%rip), %rsp\n"
"	mov native_in+40(%rip), %rbp\n"
"	mov native_in+48(%rip), %rsi\n"
"	mov native_in+56(%rip), %rdi\n"
"	mov native_in+64(%rip), %r8\n"
"	mov native_in+72(%rip), %r9\n"
"	mov native_in+80(%rip), %r10\n"
"	mov native_in+88(%rip), %r11\n"
"	mov native_in+96(%rip), %r12\n"
"	mov native_in+104(%rip), %r13\n"
"	mov native_in+112(%rip), %r14\n"
"	mov native_in+120(%rip), %r15\n"
"	jmp *native_at(%rip)\n"
"native_way:\n"
"	mov %rax, native_out+0(%rip)\n"
"	mov %rcx, native_out+8(%rip)\n"
"	mov %rdx, native_out+16(%rip)\n"
"	mov %rbx, native_out+24(%rip)\n"
"	mov %rsp, native_out+32(%rip)\n"
"	mov %rbp, native_out+40(%rip)\n"
"	mov %rsi, native_out+48(%rip)\n"
"	mov %rdi, native_out+56(%rip)\n"
"	mov %r8, native_out+64(%rip)\n"
"	mov %r9, native_out+72(%rip)\n"
"	mov %r10, native_out+80(%rip)\n"
"	mov %r11, native_out+88(%rip)\n"
"	mov %r12, native_out+96(%rip)\n"
"	mov %r13, native_out+104(%rip)\n"
"	mov %r14, native_out+112(%rip)\n"
"	mov %r15, native_out+120(%rip)\n"
"	fxsave64 native_out+192(%rip)\n"
"native_back:\n"
"	mov native_host_sp(%rip), %rsp\n"
"	cmpq $0, native_keeps(%rip)\n"
"	je 3f\n"
"	vzeroupper\n"
"3:	fxrstor64 native_host_fx(%rip)\n"
"	popfq\n"
"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
"	ret\n"
);

static inline raddr_t native_addr(const void *p)
{
	return (raddr_t)(uintptr_t)p;
}

/* A seed, and what comes of it. */
static uint64_t native_seed;

static inline uint64_t native_random(void)
{
	uint64_t x = native_seed += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* Below n, which is small. */
static inline unsigned int native_below(unsigned int n)
{
	return (unsigned int)(native_random() >> 32) % n;
}

static inline bool native_once_in(unsigned int n)
{
	return native_below(n) == 0;
}

static inline void native_fill(void *at, size_t n)
{
	for (size_t i = 0; i + 8 <= n; i += 8) {
		uint64_t x = native_random();

		memcpy((uint8_t *)at + i, &x, 8);
	}
}

/* A fault elsewhere comes again, and ends the program. */
static void native_fault(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	if (!native_running) {
		signal(sig, SIG_DFL);
		return;
	}
	native_signal = sig;
	uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)native_back;
	/* (A kernel may end a return to a stack pointer that is no address with one more fault.) */
	uc->uc_mcontext.gregs[REG_RSP] = (greg_t)native_host_sp;
	uc->uc_mcontext.gregs[REG_EFL] = 0x202;
}

/* What the processor and the kernel keep of vectors. */
static inline uint64_t native_extended(void)
{
	uint32_t a = 1, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	if (!(c >> 27 & 1))
		return 0;
	__asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
	return (a & 7) == 7 ? a & NATIVE_KEEPS : 0;
}

/* Does it compute with halves of singles, which have opcode maps of their own? */
static inline bool native_has_halves(void)
{
	uint32_t a = 0, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	if (a < 7)
		return false;
	a = 7, c = 0;
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return d >> 23 & 1;
}

/* Vectors at random; or small numbers, by which elements are found. */
static inline void native_vectors_fill(void)
{
	const uint64_t quiet = 0x037f, mxcsr = 0x1f80;

	native_fill(native_vectors, sizeof(native_vectors));
	if (native_once_in(2))
		for (size_t i = 0; i < sizeof(native_vectors); i += 4)
			memset(native_vectors + i + 1, 0, 3);
	memcpy(native_vectors, &quiet, 8);
	native_vectors[4] = (uint8_t)native_random();	/* which x87 registers are full */
	memset(native_vectors + 8, 0, 16);
	memcpy(native_vectors + 24, &mxcsr, 8);
	memset(native_vectors + 512, 0, 64);
	memcpy(native_vectors + 512, &native_keeps, 8);
}

static inline raddr_t native_gs_base(void)
{
	return native_addr(native_area) + NATIVE_AREA / 2;
}

static inline void native_gs(void)
{
	syscall(SYS_arch_prctl, ARCH_SET_GS, native_gs_base());
}

/* At the same address each time, if it is free. */
static inline uint8_t *native_map(uint64_t at, size_t n, int flags)
{
	flags |= MAP_PRIVATE | MAP_ANONYMOUS;
	void *p = mmap((void *)(uintptr_t)at, n, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0);

	return p != MAP_FAILED ? p : mmap(NULL, n, PROT_NONE, flags, -1, 0);
}

static inline bool native_open(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };
	struct sigaction sa = { .sa_sigaction = native_fault,
				.sa_flags = SA_SIGINFO | SA_ONSTACK };
	static uint8_t handlers[1 << 17];
	stack_t stack = { .ss_sp = handlers, .ss_size = sizeof(handlers) };
	uint8_t *p = native_map(0x20000000, NATIVE_AREA + 4 * NATIVE_PAGE, MAP_32BIT);

	native_far = native_map(0x123450000000, NATIVE_PAGE, 0);
	if (p == MAP_FAILED || native_far == MAP_FAILED || sigaltstack(&stack, NULL))
		return false;
	native_code = p + NATIVE_PAGE;
	native_area = p + 3 * NATIVE_PAGE;
	if (mprotect(native_code, NATIVE_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) ||
	    mprotect(native_far, NATIVE_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) ||
	    mprotect(native_area, NATIVE_AREA, PROT_READ | PROT_WRITE))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &sa, NULL);
	native_keeps = native_extended();
	native_gs();
	return true;
}

/* Where the next instruction stands: near the area, or where addresses have eight bytes. */
static inline uint8_t *native_place(bool far)
{
	static size_t at;

	at = (at + 64) % NATIVE_PAGE;
	return (far ? native_far : native_code) + at;
}

/* It stands there, and the way back behind it. */
static inline void native_put(uint8_t *code, const uint8_t *p, size_t n)
{
	static const uint8_t jump[] = { 0xff, 0x25, 0, 0, 0, 0 };
	const void *way = native_way;

	memcpy(code, p, n);
	memcpy(code + n, jump, sizeof(jump));
	memcpy(code + n + sizeof(jump), &way, sizeof(way));
}

/* Run it from native_in and this memory; false: it faulted, by native_signal. */
static inline bool native_run(void *code, const uint8_t *memory)
{
	memcpy(native_area, memory, NATIVE_AREA);
	native_at = code;
	native_signal = 0;
	native_running = true;
	native_enter();
	native_running = false;
	return !native_signal;
}

#endif

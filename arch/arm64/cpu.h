/* SPDX-License-Identifier: MIT */
/* cpu: the few instructions that the payload needs and C has no words for. */
#ifndef ARCH_ARM64_CPU_H
#define ARCH_ARM64_CPU_H

#include <stdint.h>

/* Code that includes this runs between two instructions of a foreign function, whose vector
 * registers are not saved: a promise too grave to rest on a Makefile's -mgeneral-regs-only
 * alone. */
#ifndef __clang__
#pragma GCC target("general-regs-only")
#endif

/*
 * The clock of the records. A processor may read the counter early or late, beside another
 * read of it; the barriers keep this read behind the code before it, and those of the
 * recording routines, which have no barrier, behind this one. Source: Arm ARM, D12.1.2, "The
 * virtual counter".
 */
static inline uint64_t cpu_clock(void)
{
	uint64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
	return ticks;
}

/* Ticks of a tenth of a second. */
static inline uint64_t cpu_tenth(void)
{
	uint64_t hertz;

	__asm__("mrs %0, cntfrq_el0" : "=r"(hertz));
	return hertz / 10;
}

/* The thread pointer, which is also what libc calls pthread_self(), or lies at a fixed
 * distance from it. 0 where threads are of Go's runtime alone. */
static inline uint64_t cpu_thread_pointer(void)
{
	uint64_t tp;

	__asm__("mrs %0, tpidr_el0" : "=r"(tp));
	return tp;
}

/* What a thread's words are so far from: the thread pointer, or, where there is none, the struct
 * m that Go's runtime has for the thread. g, in x28, leads there; the payload is compiled so that
 * its C leaves x28 alone. Likewise `hot` in hot.h, and regs_tp() of the injector. */
static inline uint64_t cpu_thread_base(void)
{
	enum { G_M = 48 };
	uint64_t tp = cpu_thread_pointer(), g;

	if (tp)
		return tp;
	__asm__ volatile("mov %0, x28" : "=r"(g));
	return *(volatile uint64_t *)(g + G_M);
}

static inline int32_t cpu_thread_word(uint64_t offset)
{
	return *(volatile int32_t *)(cpu_thread_base() + offset);
}

/* A variable of the thread's own, thread-local or of a part of such a one. */
#define CPU_OWN(variable) (*(__typeof__(variable) *)cpu_thread_local((uint64_t)&(variable)))

static inline uint64_t cpu_thread_local(uint64_t address)
{
	return address - cpu_thread_pointer() + cpu_thread_base();
}

static inline void cpu_set_thread_word(uint64_t offset, uint64_t word)
{
	*(volatile uint64_t *)(cpu_thread_base() + offset) = word;
}

/* One more, where only signal handlers of this thread may come between: the kernel's return
 * from an exception clears the monitor, and the store fails. */
static inline void cpu_count(uint64_t *n)
{
	uint64_t word;
	uint32_t failed;

	__asm__ volatile("1:	ldxr	%0, %2\n"
			 "	add	%0, %0, #1\n"
			 "	stxr	%w1, %0, %2\n"
			 "	cbnz	%w1, 1b"
			 : "=&r"(word), "=&r"(failed), "+Q"(*n));
}

/* System calls that leave errno alone: the result, or -errno. */
static inline long cpu_syscall6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0" : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

static inline long cpu_syscall4(long nr, long a, long b, long c, long d)
{
	return cpu_syscall6(nr, a, b, c, d, 0, 0);
}

static inline long cpu_syscall(long nr, long a, long b, long c)
{
	return cpu_syscall6(nr, a, b, c, 0, 0, 0);
}

/* vectors.S: all of SVE's registers; `room` is as large as they may be. */
void vectors_keep(void *room);
void vectors_restore(const void *room);

/* Keep what a system call changes (enum call_changes). False: none may be made, for it would end
 * streaming mode: SVCR.SM. */
static inline _Bool cpu_before_call(uint32_t changes, void *room)
{
	uint64_t svcr;

	if (changes & 2) {
		__asm__ volatile("mrs %0, s3_3_c4_c2_2" : "=r"(svcr));
		if (svcr & 1)
			return 0;
	}
	if (changes & 1)
		vectors_keep(room);
	return 1;
}

static inline void cpu_after_call(uint32_t changes, const void *room)
{
	if (changes & 1)
		vectors_restore(room);
}

enum { CPU_FIRST = 0, CPU_SECOND = 1 };	/* arguments: x0, x1 */

enum { CPU_STACK = 31 };	/* the stack pointer, which is not among them */

/* What slow.S has stored where values are read, from its lowest word on, by the registers' numbers
 * in DWARF (DWARF for the Arm 64-bit Architecture, 4.1): x19 to x28, x29, the way back to the stub,
 * x0 to x15, x18; and behind its 256 bytes what the stub has pushed: x17, x30, x16. */
static inline void cpu_held(const uint64_t *held, uint64_t *general)
{
	const uint64_t *pushed = held + 256 / 8;

	for (unsigned int i = 0; i < 11; i++)
		general[19 + i] = held[i];
	for (unsigned int i = 0; i < 16; i++)
		general[i] = held[12 + i];
	general[16] = pushed[2];
	general[17] = pushed[0];
	general[18] = held[28];
	general[30] = pushed[1];
}

enum {
	CPU_PUSHED = 0,		/* a call pushes nothing */
	CPU_ZONE = 16,		/* by which the stub of a place lowers the stack pointer: ZONE */
};

/* Of what slow.S has pushed: the frame pointer, and where in the stub it goes back to. */
static inline uint64_t cpu_frame_pointer(const uint64_t *held)
{
	return held[10];
}

/* Go's register for its g: x28. */
static inline const void *cpu_goroutine(const uint64_t *held)
{
	return (const void *)held[9];
}

static inline uint64_t cpu_way_back(const uint64_t *held)
{
	return held[11];
}

/* The stack pointer where the stub began to record: it has pushed RECORD_PUSHED (stand.h) below
 * that, and slow.S 256 bytes. */
static inline uint64_t cpu_stack(const uint64_t *held)
{
	return (uint64_t)held + 256 + 48;
}

/* The register that calls leave their return address in, x30: the stub has pushed it behind x17. */
static inline uint64_t cpu_link(const uint64_t *held)
{
	return held[(256 + 8) / 8];
}

/* The processor that it runs on. No instruction tells, but the kernel keeps the number in what the
 * thread has registered for restartable sequences, `at` bytes from its thread pointer (struct rseq:
 * cpu_id, which is below 0 of a thread that has not). UINT64_MAX: it is not known. */
static inline uint64_t cpu_number(int64_t at)
{
	enum { CPU_ID = 4 };
	int32_t id = -1;

	if (at)
		id = *(volatile int32_t *)(cpu_thread_pointer() + (uint64_t)at + CPU_ID);
	return id < 0 ? UINT64_MAX : (uint64_t)id;
}

/* An address of code without its signature: xpaclri, which is a nop where there are none. */
static inline uint64_t cpu_plain(uint64_t address)
{
	register uint64_t x30 __asm__("x30") = address;

	__asm__("hint #7" : "+r"(x30));
	return x30;
}

/* Of a handler's third argument (struct ucontext), where the program counter
 * stands that the thread goes on at. Source: arch/arm64/include/uapi/asm/sigcontext.h. */
static inline uint64_t *cpu_frame_pc(void *frame)
{
	enum { UC_MCONTEXT = 176, FAULT_AND_REGS = 32, SP_AND_PC = 1 };

	return (uint64_t *)((char *)frame + UC_MCONTEXT) + FAULT_AND_REGS + SP_AND_PC;
}

/* How far behind a breakpoint it stands then, and the si_code by which the kernel says that
 * it was one: TRAP_BRKPT. Source: arch/arm64/kernel/debug-monitors.c, brk_handler(). */
enum { CPU_TRAP_SIZE = 0, CPU_TRAP_CODE = 1 };

/* Where the jump leads that stands there, 0: another instruction does. So many bytes
 * are looked at, the first one first. */
enum { CPU_JUMP_SIZE = 4 };

static inline uint64_t cpu_jump_goal(const uint8_t *p)
{
	uint32_t word;

	__builtin_memcpy(&word, p, sizeof(word));
	if ((word & 0xfc000000) != 0x14000000)
		return 0;
	return (uint64_t)p + (uint64_t)(((int64_t)((uint64_t)word << 38) >> 36) & ~3ll);
}

#endif

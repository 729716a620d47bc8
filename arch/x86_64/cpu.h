/* SPDX-License-Identifier: MIT */
/* cpu: the few instructions that the payload needs and C has no words for. */
#ifndef ARCH_X86_64_CPU_H
#define ARCH_X86_64_CPU_H

#include <stdint.h>

/* Code that includes this runs between two instructions of a foreign function, whose vector
 * registers are not saved: a promise too grave to rest on a Makefile's -mgeneral-regs-only
 * alone. */
#ifndef __clang__
#pragma GCC target("general-regs-only")
#endif

/* The clock of the records. */
static inline uint64_t cpu_clock(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

/* Ticks of about a tenth of a second. */
static inline uint64_t cpu_tenth(void)
{
	return 1ull << 28;
}

/* The thread pointer, which is also what libc calls pthread_self(). (0 where threads
 * are of Go's runtime alone: their word that would say so is unused.) */
static inline uint64_t cpu_thread_pointer(void)
{
	uint64_t tp;

	__asm__("mov %%fs:0, %0" : "=r"(tp));
	return tp;
}

/* What stands so far from where it points, also if it does not point to itself. */
static inline int32_t cpu_thread_word(uint64_t offset)
{
	int32_t word;

	__asm__ volatile("movl %%fs:(%1), %0" : "=r"(word) : "r"(offset));
	return word;
}

/* A variable of the thread's own, thread-local or of a part of such a one. */
#define CPU_OWN(variable) (variable)

static inline void cpu_set_thread_word(uint64_t offset, uint64_t word)
{
	__asm__ volatile("mov %0, %%fs:(%1)" : : "r"(word), "r"(offset) : "memory");
}

/* One more, where only signal handlers of this thread may come between. */
static inline void cpu_count(uint64_t *n)
{
	__asm__ volatile("incq %0" : "+m"(*n) : : "cc");
}

/* System calls that leave errno alone: the result, or -errno. */
static inline long cpu_syscall4(long nr, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline long cpu_syscall6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline long cpu_syscall(long nr, long a, long b, long c)
{
	return cpu_syscall4(nr, a, b, c, 0);
}

/* What slow.S has pushed where values are read, from its lowest word on, by the registers' numbers
 * in DWARF: System V ABI, AMD64, 3.6.2. */
/* Nothing that a system call changes has to be kept. */
static inline _Bool cpu_before_call(uint32_t changes, void *room)
{
	(void)changes;
	(void)room;
	return 1;
}

static inline void cpu_after_call(uint32_t changes, const void *room)
{
	(void)changes;
	(void)room;
}

enum { CPU_FIRST = 5, CPU_SECOND = 4 };	/* arguments: %rdi, %rsi */

enum { CPU_STACK = 7 };	/* the stack pointer, which is not among them */

/* What slow.S has pushed where values are read, from its lowest word on, by the registers' numbers
 * in DWARF (System V ABI, AMD64 supplement, 3.6.2): %rbp, %r12 to %r15, %rbx, %r11 to %r8, %rdi,
 * %rsi, %rdx; the flags; and what the stub has pushed: the way back, %rax, %rcx. */
static inline void cpu_held(const uint64_t *held, uint64_t *general)
{
	general[6] = held[0];
	general[12] = held[1];
	general[13] = held[2];
	general[14] = held[3];
	general[15] = held[4];
	general[3] = held[5];
	general[11] = held[6];
	general[10] = held[7];
	general[9] = held[8];
	general[8] = held[9];
	general[5] = held[10];
	general[4] = held[11];
	general[1] = held[12];
	general[0] = held[15];
	general[2] = held[16];
}

enum {
	CPU_PUSHED = 8,		/* a call pushes its return address */
	CPU_ZONE = 128,		/* at places in functions stubs record so far below the stack */
};

/* Of what slow.S has pushed: the frame pointer, and where in the stub it goes back to. */
static inline uint64_t cpu_frame_pointer(const uint64_t *held)
{
	return held[0];
}

/* Go's register for its g: %r14. */
static inline const void *cpu_goroutine(const uint64_t *held)
{
	return (const void *)held[3];
}

static inline uint64_t cpu_way_back(const uint64_t *held)
{
	return held[14];
}

/* The stack pointer where the stub began to record: it has pushed 24 bytes. */
static inline uint64_t cpu_stack(const uint64_t *held)
{
	return (uint64_t)(held + 14) + 24;
}

/* The processor that it runs on, as the kernel has it in the limit of a segment for the vdso
 * (arch/x86/include/asm/segment.h: GDT_ENTRY_CPUNODE, VDSO_CPUNODE_MASK). */
static inline uint64_t cpu_number(int64_t at)
{
	uint64_t limit = 0xfff;

	(void)at;
	__asm__ volatile("lsl %1, %0" : "+r"(limit) : "r"(15ull * 8 + 3) : "cc");
	return limit & 0xfff;
}

/* The register that calls leave their return address in: there is none. */
static inline uint64_t cpu_link(const uint64_t *held)
{
	(void)held;
	return 0;
}

/* An address of code without its signature. */
static inline uint64_t cpu_plain(uint64_t address)
{
	return address;
}

/* Of a handler's third argument (struct ucontext), where the program counter
 * stands that the thread goes on at. */
static inline uint64_t *cpu_frame_pc(void *frame)
{
	enum { UC_MCONTEXT = 40, RIP = 16 };

	return (uint64_t *)((char *)frame + UC_MCONTEXT) + RIP;
}

/* How far behind a breakpoint it stands then, and the si_code by which the kernel says that
 * it was one: SI_KERNEL. Source: arch/x86/kernel/traps.c, do_int3_user(). */
enum { CPU_TRAP_SIZE = 1, CPU_TRAP_CODE = 0x80 };

/* Where the jump leads that stands there, 0: another instruction does. So many bytes
 * are looked at, the first one first. */
enum { CPU_JUMP_SIZE = 5 };

static inline uint64_t cpu_jump_goal(const uint8_t *p)
{
	int32_t rel;

	if (*p != 0xe9)
		return 0;
	__builtin_memcpy(&rel, p + 1, sizeof(rel));
	return (uint64_t)p + CPU_JUMP_SIZE + (uint64_t)(int64_t)rel;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * machine: what tests and victims have to know of the instruction set: the registers of a
 * handler's third argument (ucontext_t *), by what they are for, what a jump looks like, and
 * how a tracer has a system call fail that is about to be made.
 */
#ifndef TESTS_MACHINE_H
#define TESTS_MACHINE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <ucontext.h>

#if defined(__x86_64__)

#define CONTEXT_PC(u) ((u)->uc_mcontext.gregs[REG_RIP])
#define CONTEXT_SP(u) ((u)->uc_mcontext.gregs[REG_RSP])
#define CONTEXT_FRAME(u) ((u)->uc_mcontext.gregs[REG_RBP])
#define CONTEXT_RESULT(u) ((u)->uc_mcontext.gregs[REG_RAX])

#define MACHINE_RESULT rax

/* A breakpoint, and an instruction that is none; how many bytes further on the program
 * goes on than where its handler finds it. */
#define MACHINE_TRAP "int3"
#define MACHINE_UNDEFINED "ud2"
enum { MACHINE_BEHIND_TRAP = 0, MACHINE_BEHIND_UNDEFINED = 2 };
/* What compilers make of what cannot happen. */
#define MACHINE_STOP "ud2"
enum { MACHINE_BEHIND_STOP = 2, MACHINE_STOP_SIGNAL = 4 };	/* SIGILL */

/* Does what stands there begin with a jump to a stub? */
static inline bool machine_is_jump(const void *code)
{
	return *(const volatile uint8_t *)code == 0xe9;
}

/* A system call of two arguments by "syscall; ret", where LABEL stands. */
#define MACHINE_CALL(label, nr, a, b) \
	__asm__ volatile("call 1f\n\tjmp 2f\n1:\t.globl " label "\n" label ":\tsyscall\n\tret\n2:" \
			 : : "a"(nr), "D"(a), "S"(b) : "rcx", "r11", "memory")

#elif defined(__aarch64__)

#define CONTEXT_PC(u) ((u)->uc_mcontext.pc)
#define CONTEXT_SP(u) ((u)->uc_mcontext.sp)
#define CONTEXT_FRAME(u) ((u)->uc_mcontext.regs[29])
#define CONTEXT_RESULT(u) ((u)->uc_mcontext.regs[0])

#define MACHINE_RESULT regs[0]

#define MACHINE_TRAP "brk #0"
#define MACHINE_UNDEFINED "udf #0"
enum { MACHINE_BEHIND_TRAP = 4, MACHINE_BEHIND_UNDEFINED = 4 };
#define MACHINE_STOP "brk #1000"
enum { MACHINE_BEHIND_STOP = 4, MACHINE_STOP_SIGNAL = 5 };	/* SIGTRAP */

static inline bool machine_is_jump(const void *code)
{
	return *(const volatile uint32_t *)code >> 26 == 5;
}

#define MACHINE_CALL(label, nr, a, b) ({ \
	register long x8 __asm__("x8") = (nr); \
	register const void *x0 __asm__("x0") = (a); \
	register long x1 __asm__("x1") = (b); \
	__asm__ volatile("bl 1f\n\tb 2f\n1:\t.globl " label "\n" label ":\tsvc #0\n\tret\n2:" \
			 : "+r"(x0) : "r"(x8), "r"(x1) : "x30", "memory"); })

#else
#error "tests/machine.h does not know this instruction set"
#endif

static inline bool machine_regs(pid_t tid, struct user_regs_struct *r)
{
	struct iovec iov = { r, sizeof(*r) };

	return ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &iov) == 0;
}

static inline bool machine_set_regs(pid_t tid, struct user_regs_struct *r)
{
	struct iovec iov = { r, sizeof(*r) };

	return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &iov) == 0;
}

/* At the stop before a system call: it is not to be made. Where the number is in a register,
 * that is one of all; else a set of its own has it. */
static inline bool machine_skip_call(pid_t tid)
{
#ifdef __aarch64__
	int none = -1;
	struct iovec iov = { &none, sizeof(none) };

	return ptrace(PTRACE_SETREGSET, tid, NT_ARM_SYSTEM_CALL, &iov) == 0;
#else
	struct user_regs_struct r;

	if (!machine_regs(tid, &r))
		return false;
	r.orig_rax = -1;
	return machine_set_regs(tid, &r);
#endif
}

/* At the stop behind a system call: it is to return this. */
static inline bool machine_set_result(pid_t tid, long result)
{
	struct user_regs_struct r;

	if (!machine_regs(tid, &r))
		return false;
	r.MACHINE_RESULT = (unsigned long)result;
	return machine_set_regs(tid, &r);
}

#endif

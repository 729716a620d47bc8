/* SPDX-License-Identifier: MIT */
/*
 * regs: the live half of arch: the registers of a thread stopped by ptrace.
 * Compiled for the host only, from arch/<name>/regs.c.
 */
#ifndef ARCH_REGS_H
#define ARCH_REGS_H

#include <signal.h>
#include <sys/types.h>

#include "base/base.h"

/* The general registers, as PTRACE_GETREGSET NT_PRSTATUS gives them. */
struct regs {
	uint64_t raw[40];
	size_t size;		/* bytes of raw in use */
};

/* Vector and floating-point state, all of it: on x86-64 the XSAVE area in its
 * real size (some 11 KB on a machine with AMX). Owned. */
struct xstate {
	uint8_t *bytes;
	size_t size;
};

/*
 * ptrace(2) of a tracee, made again if it fails: that a thread cannot be given
 * back, or what it did for us not be learned, is worse than any reason for a
 * single failure. 0, or -1 and errno; ESRCH: it is gone, or runs.
 */
int regs_request(int request, pid_t tid, uintptr_t addr, void *data);

/* 0 or -errno (-ESRCH: the thread is gone or not stopped). */
int regs_get(pid_t tid, struct regs *ret);
int regs_set(pid_t tid, const struct regs *);
int xstate_get(pid_t tid, struct xstate *ret);
int xstate_set(pid_t tid, const struct xstate *);
void xstate_clear(struct xstate *);

raddr_t regs_pc(const struct regs *);
void regs_set_pc(struct regs *, raddr_t);
raddr_t regs_sp(const struct regs *);
raddr_t regs_tp(const struct regs *);
/* Registers in which code of ours may have its way back to a stub: so many, and what they
 * hold. */
enum { REGS_WAYS = 2 };
extern const size_t regs_nways;
void regs_ways(const struct regs *, raddr_t ret[REGS_WAYS]);

/* What does a system call change of vector registers? (enum call_changes in payload/captures.h) */
uint32_t regs_call_changes(void);

/* Does the processor check each return of the thread by a stack that it keeps beside its own?
 * The thread is stopped. */
bool regs_has_shadow(pid_t tid);

/* The bits of a return address in which a function may keep a signature of it, while it runs;
 * 0: there are none, or they cannot be asked for. The thread is stopped. */
uint64_t regs_signed_bits(pid_t tid);
/* The operation of unwind information (DW_CFA_*) that says from where on it is signed; 0: none
 * does. */
extern const uint8_t regs_sign_op;
/* And the one that says of a register, by a negative factor, that it lies at the CFA or above it,
 * where no register is kept; 0: libunwind is to believe that. */
extern const uint8_t regs_above_op;
/* Does libunwind's word that a frame is the last one hold? Where it follows the frame pointers
 * if no table tells of a function, it does: the last frame has none. Else it says so, too,
 * of a frame that it knows no way out of, and only a return address of 0 tells of the end. */
extern const bool regs_frames_end;

/* What the stop did to the system call that the thread was in, if any. */
enum interrupted {
	INTERRUPTED_NONE,	/* in user code, or the call had ended */
	INTERRUPTED_RESTARTS,	/* the kernel restarts it by itself, exactly */
	INTERRUPTED_BLOCK,	/* restarts with the time that remained, unless
				 * another call clobbers the restart block */
	INTERRUPTED_EINTR,	/* would return EINTR, and can be repaired: the
				 * call has done nothing yet */
};

enum interrupted regs_interrupted(const struct regs *);
/* The system call that the thread is about to come back from. */
struct regs_call_state {
	long nr;		/* -1: none */
	uint64_t arg[6];
	int64_t result;		/* -errno, the kernel's own ones included */
};
void regs_call_state(const struct regs *, struct regs_call_state *ret);
/* One that returns its result, and does not run again: forget it. A thread that
 * is stopped once more before it has run is then not seen in it again. */
void regs_forget_call(struct regs *);
/* The number of that call and its first argument; -1 if none. */
long regs_syscall(const struct regs *, uint64_t *first_arg);
/*
 * Have the kernel run the call again from its start. A handled signal that is
 * pending as well still makes it return EINTR, as it would have without us; but
 * not where a stop hides the call (regs_hide_call). A relative timeout starts anew.
 * Source: arch/x86/kernel/signal.c, arch_do_signal_or_restart(): -ERESTARTNOHAND.
 */
void regs_repair(struct regs *);
/* The state from which the interrupted call runs again from its start: what a
 * frame for sigreturn has to hold, since that forgets every restart. */
void regs_rewind(struct regs *);

/* The system call in which a thread slept right before it was stopped, as
 * /proc/PID/task/TID/syscall tells. sp 0: it did not. */
struct asleep {
	long nr;
	uint64_t arg;		/* the first one */
	raddr_t sp, pc;
	int64_t switches;	/* how often it had slept by then */
};

/* Does a stop hide what the call was, so that it has to be known from before? Of this thread, to
 * give it back as it was? */
extern const bool regs_hide_call;
bool regs_hides_call(const struct regs *);
/* `still`: the thread has not woken up since, but for the stop. */
void regs_met(struct regs *, const struct asleep *, bool still);
/* One that failed with EINTR, and is not known by then: of the kernel, in a stop by an event. */
void regs_ask_call(pid_t tid, struct regs *);
/* Where another call for us comes in between, a call with a restart block is to go on with the
 * time that remained. False: it cannot. */
bool regs_goes_on(struct regs *);

/*
 * A call that was stopped before is known to the kernel as restart_syscall.
 * Give it its own number again, which stands in the `n` bytes of code that lead
 * to the call ("mov $nr, %eax; syscall"), if it is there at all. To be run
 * again from its start, by regs_repair or regs_rewind, it has to have it.
 */
void regs_name_restarted(struct regs *, const uint8_t *code, size_t n);
/* Is it such a call? */
bool regs_is_restarted(const struct regs *);
/* Where the instruction stands that made the call. */
raddr_t regs_call_site(const struct regs *);

/* How does a system call go on that a stop has interrupted? */
enum restarts {
	RESTARTS_LEAKS,		/* some fail with EINTR, which has to be repaired */
	RESTARTS_ITSELF,	/* from its start, whatever the thread did meanwhile */
	RESTARTS_BLOCK,		/* by what the kernel has noted, and forgets at the next call */
	RESTARTS_CHILD,		/* not before its child lets the memory go */
};

enum restarts regs_restarts(long nr);

/* The system call that sets the thread pointer; -1: no call does. */
extern const long regs_nr_set_tp;

/* Make the thread call `fn(args...)` with its stack at `sp`. It returns to `back`, which lies
 * at `sp` already, too, as the first word of a frame does. Any system call restart is cancelled,
 * and at a stop before a system call that call is not run. */
void regs_call(struct regs *, raddr_t fn, const uint64_t *args, size_t nargs,
	       raddr_t sp, raddr_t back);
/* The same for a system call through the gadget "syscall; return". */
void regs_call_syscall(struct regs *, raddr_t gadget, long nr,
		       const uint64_t args[6], raddr_t sp, raddr_t back);
/* At a stop before a system call: it is to make another, without arguments, instead. */
void regs_replace_call(struct regs *, long nr);
uint64_t regs_result(const struct regs *);

/*
 * A signal frame that rt_sigreturn takes: it brings a thread back to `regs`,
 * `xs` and the signal mask. `base` is the address where it will lie; where return addresses are
 * on the stack, with the address `restorer` in its first word, so that a function called with
 * sp == base "returns" into rt_sigreturn. The alternate signal stack stays as it is.
 * Returns the frame's bytes in *ret (owned by the caller) and its size, or
 * -ENOMEM. frame_space() is room enough for it and for its alignment. Behind it
 * frame_tail() bytes have to be readable, whatever they are: a processor may
 * touch the whole area of the vector state, of which the frame has the part in
 * use, and then so does the kernel (restore_fpregs_from_user()).
 */
int64_t frame_build(const struct regs *, const struct xstate *xs, uint64_t sigmask,
		    raddr_t base, raddr_t restorer, uint8_t **ret);
size_t frame_space(const struct xstate *);
size_t frame_tail(const struct xstate *);
/* The highest address at or below `top` where a frame of this size may lie. */
raddr_t frame_base(raddr_t top, const struct xstate *);
/* Bytes that returning from a function takes off the stack. */
extern const int frame_popped;
/* Offsets from a frame's base to the saved PC, stack pointer and signal mask. */
extern const int frame_pc_offset, frame_sp_offset, frame_mask_offset;
/*
 * May these three words be the PC that the kernel has saved of a thread that a signal has
 * interrupted, and what it saves behind that? So they are in a signal frame, and in each copy of
 * the ucontext_t that its handler has. Source: struct sigcontext of the architecture.
 */
bool regs_is_saved_pc(const uint64_t words[3]);
extern const int frame_way_offsets[REGS_WAYS];	/* regs_nways of them */
/* The word that every frame of the kernel's has, and where; 0: its first word is the address
 * of code that makes rt_sigreturn. */
extern const uint64_t frame_mark;
extern const int frame_mark_offset;

/* Where a handler has returned to, the stack pointer is right below the kernel's frame: where from
 * there on are stack pointer, program counter, frame pointer and, if calls leave their return
 * address there, link register of what the signal has interrupted? */
struct frame_registers {
	int16_t sp, pc, fp, link;
};
extern const struct frame_registers frame_registers;

/* Byte patterns: three to be found in the target's code, and the trap. */
struct gadget {
	const uint8_t *bytes;
	size_t size;
};
extern const struct gadget gadget_syscall_ret, gadget_sigreturn, gadget_pop_number,
	gadget_trap;
/* Where the trap stands that has stopped the thread with SIGTRAP. */
raddr_t regs_trapped_at(const struct regs *);

#endif

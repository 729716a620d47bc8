/* SPDX-License-Identifier: MIT */
/*
 * sigframes: where was a thread interrupted whose signal handler is running?
 * Such a PC lies on a stack, not in a register, and counts like one.
 *
 * A frame's first word is the address of code that does rt_sigreturn, or the frame has a
 * word that all have (frame_mark). Stacks
 * are searched for such words, which costs one read per thread; what is found
 * may be left over from long ago, so before a word of the target's stack is
 * trusted, libunwind-ptrace has to reach it as a live frame.
 */
#ifndef INJECTOR_SIGFRAMES_H
#define INJECTOR_SIGFRAMES_H

#include "injector/ptrace/target.h"

/* Where a thread rests, or is to go on. */
struct rest {
	raddr_t pc, sp;
	raddr_t ways[REGS_WAYS];	/* regs_nways of them */
};

struct sigframes {
	raddr_t *restorers;	/* sorted; code that does rt_sigreturn */
	size_t n, cap;
};

struct sigframe {
	raddr_t at;		/* its first word */
	struct rest rest;	/* of the interrupted code */
	uint64_t mask;		/* the signals that the thread blocks once the handler returns */
};

/* Before the stop: find the restorers in all code of the process; its layout is read. */
int sigframes_prepare(struct target *, struct sigframes *ret);
void sigframes_clear(struct sigframes *);

/* Call `each` for every word on the stopped thread's stacks that may begin a
 * signal frame. Nonzero from it ends the search and is returned. */
int sigframes_search(const struct target *, const struct sigframes *,
		     struct thread_hold *,
		     int (*each)(void *ctx, const struct sigframe *), void *ctx);

/* 1: libunwind reaches it, it is live. 0: it is left over. -EAGAIN: the stack
 * could not be walked to its end, so it is not known. */
int sigframe_is_live(struct target *, const struct thread_hold *,
		     const struct sigframe *);
/* Change the PC that a live frame returns to. */
int sigframe_set_pc(const struct target *, const struct sigframe *, raddr_t pc);

#endif

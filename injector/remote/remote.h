/* SPDX-License-Identifier: MIT */
/*
 * remote: run a call inside the target, on one stopped thread.
 *
 * Crash safety: from the first instruction of a remote call until the thread
 * has its own registers back, its return address leads to rt_sigreturn over a
 * frame that holds its state. If we die in between, the call ends, "returns",
 * and the thread goes on where it was; a system call that it was in runs again.
 */
#ifndef INJECTOR_REMOTE_H
#define INJECTOR_REMOTE_H

#include "injector/ptrace/target.h"
#include "injector/remote/alarms.h"

struct gadgets {
	raddr_t syscall_ret;	/* code that does "syscall; ret" */
	raddr_t other;		/* more of it, for a thread that sleeps right there; or 0 */
	raddr_t sigreturn;	/* code that does rt_sigreturn; 0: none found */
	raddr_t pop_number;	/* then: "pop into the system call's number; ret" */
};

/*
 * Find them in the target's executable mappings. -ENOENT if there are none. `ours` is
 * where our payload lies, or empty: probes may have taken all that a program had, and
 * it has them, too.
 */
int remote_gadgets(const struct target *, struct range ours, struct gadgets *ret);

/* The signals by which the kernel tells a thread of a fault, as a mask. */
uint64_t remote_faults(void);

struct remote {
	struct target *target;
	struct thread_hold *thread;
	struct gadgets gadgets;
	struct regs saved;
	struct xstate xstate;
	uint64_t sigmask;
	raddr_t frame;		/* where the crash-safe frame lies */
	raddr_t first_frame;	/* on its own stack, where `frame` is on another one; else 0 */
	raddr_t way;		/* where the way back to it begins: `frame`, or
				 * a little below */
	bool ran;		/* the thread has run for us, however it ended */
	struct range code;	/* it works by itself, and is there or at home */
	struct alarms alarms;	/* that waited before */
	bool borrowed_stack;	/* its calls run on another than its own */
	bool astray;		/* it could not be given back: it is in `code` still, or on
				 * that stack, and comes home by itself */
};

/* Is the thread still ours, to make further calls? */
static inline bool remote_is_held(const struct remote *r)
{
	return r->xstate.bytes;
}

/*
 * Can the frame be put on the stack of this stopped thread? What was found of a thread's
 * stack stands in target.stacks, for it does not go before the thread does, and to look
 * for it among thousands of mappings takes longer than all else.
 */
bool remote_has_room(struct target *, struct thread_hold *);
/* Below where? `saved` and `xstate` are read. -EAGAIN: nowhere. */
int remote_place(const struct remote *, raddr_t *top);
/*
 * Make ready: save all state, build the frame below `stack_top` (0: below the
 * red zone of the thread's own stack), block signals. The thread must be in an
 * event stop. On failure the thread is as before.
 */
int remote_begin(struct target *, struct thread_hold *, const struct gadgets *,
		 raddr_t stack_top, struct remote *ret);
/* From now on calls run on another stack, which ends at `stack_top`. */
int remote_use_stack(struct remote *, raddr_t stack_top);
/* Give everything back; the thread is in an event stop as before. Always
 * completes unless the thread is gone. Safe to call again. */
int remote_end(struct remote *);

/* A system call. Its result (also -errno of the target) in *ret. -EPERM: it was not made,
 * for a seccomp filter might kill for it. */
int remote_syscall(struct remote *, long nr, const uint64_t args[6], int64_t *ret);
/* remote_syscall whose failure in the target is ours too, as `what`. */
int remote_try(struct remote *, const char *what, int64_t *ret, long nr,
	       uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
	       uint64_t a5);
/* A function `fn(a0, a1)`; its result is lost. -ETIMEDOUT if it sleeps for
 * `budget` ns (it waits for a lock, perhaps its own), -EFAULT if it faults:
 * then remote_end gives the thread back from wherever it is. */
int remote_call(struct remote *, raddr_t fn, uint64_t a0, uint64_t a1,
		uint64_t budget);

/* A function of ours that makes many system calls, none of which stops the thread. */
struct remote_job {
	raddr_t fn;
	uint64_t args[2];
	struct range code;	/* where it is to be found until it returns */
	raddr_t done;		/* a word that reads `turn` once it has come to its end,
				 * and waits to be fetched */
	raddr_t turn_at;	/* one that it reads meanwhile: while it is another than
				 * `turn` it leaves off */
	uint32_t turn;
};
/*
 * Have it done. A thread that has waited for us in vain has gone home over its frame, and
 * goes on as it would without us: nothing is left to be given back, and it is not held any more
 * (remote_is_held). -ETIMEDOUT if it sleeps for half a second.
 */
int remote_work(struct remote *, const struct remote_job *);

#endif

/* SPDX-License-Identifier: MIT */
/* target, inside: shared by target*.c only. */
#ifndef INJECTOR_TARGET_IMPL_H
#define INJECTOR_TARGET_IMPL_H

#include "injector/ptrace/target.h"

/* target_addressed.c */

/* What target_is_addressed has said of it last: during a stop nothing new is asked. */
bool target_was_addressed(const struct target *, pid_t tid);
void target_note_addressed(struct target *, pid_t tid);

/* target_ask.c */

/* Ask those to stop that have not, and were perhaps asked before, for the request itself may
 * have failed; and forget those that never will. */
void target_ask_all(struct target *);

/* target_report.c */

struct thread_hold *target_find(struct target *, pid_t tid);
/* NULL: no memory. */
struct thread_hold *target_hold_new(struct target *, pid_t tid, enum hold);

/*
 * Take one wait status. INTERRUPT need not give EVENT_STOP at once: a signal, a clone
 * or a system call may be reported first. A signal is passed on, and the interrupt made
 * again, for any stop takes it back (ptrace_stop() in the kernel's signal.c). A thread that
 * executes another program stands still until it is let go: -ESRCH. Of a failure nothing
 * is said. One that cannot be made to go on is being killed, and listed until it has ended.
 */
int target_take(struct target *, pid_t tid, int status);
/*
 * Take all that has been reported; *heard: how many reports. Each thread is asked for by its id
 * first: the kernel's search among all takes a time that grows with their number (do_wait() in
 * kernel/exit.c). Then the others: a child that is to be let go, a thread that was born meanwhile.
 * -ECHILD: none is ours any more; else what target_take says.
 */
int target_hear(struct target *, size_t *heard);
/* Forget those that are let go, or have ended. */
void target_drop_gone(struct target *);
/* Of the child that is watched, this is perhaps the end. */
void target_note_end(pid_t tid, int status);
/* Wait until a tracee reports or `until`; SIGCHLD is blocked in every thread
 * of ours, so that sigtimedwait sleeps without a race. */
void target_nap(uint64_t until);

/* target_seize.c */

/*
 * PTRACE_SEIZE, between begin and end; errno if not. Reports of others that are held may be
 * taken meanwhile, `tid` may be listed by then, and end returns what came of that, as
 * target_take. Where there is no timer to be had it may wait for ever for a thread that
 * executes a program.
 */
void target_seize_begin(void);
int target_seize_end(void);
bool target_seize(struct target *, pid_t tid, unsigned long options);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * target: hold a process: its memory, its threads stopped, and let go.
 *
 * Knows no symbols. All ptrace calls of one hold are made by one thread of
 * ours, the tracer thread (injector/ptrace/tracing.h): when that thread ends, for whatever
 * reason, the kernel detaches every tracee, also one that never stopped.
 * PTRACE_O_EXITKILL is set for a command that has not begun (injector/launch/launch.c), and
 * nowhere else.
 */
#ifndef INJECTOR_TARGET_H
#define INJECTOR_TARGET_H

#include "arch/regs.h"
#include "injector/proc/layout.h"
#include "injector/ptrace/seccomp.h"

enum hold {
	HOLD_SEIZED,		/* traced, still running */
	HOLD_STOPPED,		/* in a stop; registers can be read and set */
	HOLD_GONE,
};

struct thread_hold {
	pid_t tid;
	uint8_t hold;		/* enum hold */
	bool event_stop;	/* the stop is PTRACE_EVENT_STOP, not a signal's */
	bool asked;		/* to stop, and has perhaps been woken by that */
	bool have_regs, dirty;	/* regs were read; must be set before release */
	struct regs regs;
	struct asleep before;	/* where a stop hides the call that it met */
};

/* Of one thread: the memory that its stack pointer was in, and the stack that it was born
 * with. */
struct stacks {
	pid_t tid;
	raddr_t tp;
	struct range of_sp, born;
};

struct target {
	pid_t pid;
	char comm[32];
	int mem;		/* /proc/PID/mem, read-write; of the address space
				 * that the process had when it was opened */
	uint64_t start_time;	/* so that a reused pid is noticed */

	struct thread_hold *threads;
	size_t nthreads, cap;
	size_t found;		/* which of them was asked for last */
	uint64_t stopped_at;	/* ns, when the first thread was interrupted */
	uint64_t release_each;	/* ns, what it has taken last to let one thread go */
	uint64_t needs;		/* ns, of a stop that was too short: see target_needs */

	/* What coming and going did, over all stops. */
	uint64_t longest_pause;	/* ns, first interrupt to last detach */
	uint64_t longest_loan;	/* the same, of one thread that was borrowed */
	uint64_t last_pause, last_loan;
	struct stacks stacks;	/* of the thread that was looked at last */
	struct layout layout;	/* as it was mapped before anything was held */
	struct seccomp_filters filters;	/* of the thread that is lent, if it has any */
	pid_t *own;		/* threads that ran code of it before the stop */
	int own_count;
	pid_t *addressed;	/* threads that signals are sent to */
	size_t naddressed, addressed_cap;
	pid_t *late;		/* threads that did not stop in time, in any stop of all; */
	size_t nlate, late_cap;
	size_t nfirst;		/* of them so many are stopped first */
	bool lent;		/* what is held just now is one borrowed thread */
	bool filtered;		/* some thread has a seccomp filter */
	bool kept;		/* what is held stays so: see target_keep */
	unsigned int repaired;	/* calls that were run again instead of EINTR */
	unsigned int shortened;	/* transfers that ended early */
};

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t now_ns(void);

int target_open(pid_t pid, struct target *ret);
/*
 * From now on, until target_close or our death, no other inject works on this
 * process; -EBUSY, with the name of the one that has it, if one does. One that was
 * killed is given the time to end. (A lock on /proc/PID/mem: only a process that may write
 * the memory can take it, and it leaves nothing behind.)
 */
int target_claim(const struct target *);
void target_close(struct target *);

/* Memory of the target, by /proc/PID/mem: also pages that it cannot write.
 * All of `n` bytes or -errno. Needs no stop. */
int target_read(const struct target *, raddr_t, void *buf, size_t n);
int target_write(const struct target *, raddr_t, const void *buf, size_t n);

/*
 * Stop every thread: seize and interrupt all in one batch, wait for all, and
 * look again until a scan made with everything stopped finds nothing new
 * (threads that clone are followed, so a new one is born traced). Those that did not stop in
 * time before, in an uninterruptible call, are stopped first, while the others run: they may wait
 * for one of these. -EAGAIN when
 * a thread did not stop in `budget` ns (it is in an uninterruptible call), or
 * another process, as a vfork child, runs on the same memory: the caller
 * releases and may try again. -ESRCH when
 * the process is gone. On failure threads may be held: target_release.
 */
int target_stop(struct target *, uint64_t budget);
/* When the work of a stop is to be over, for the threads to be let go within `budget`. */
uint64_t target_until(const struct target *, uint64_t budget);
/*
 * The stop is too short: `done` of `n` were, since `begun`. How long a stop would do, at this
 * pace, is in `needs` until the next one begins; 0: not known.
 */
void target_needs(struct target *, uint64_t begun, size_t done, size_t n);
enum { TARGET_ADVICE = 64 };
/* Of that, what --max-pause should be: to stand behind the option's name. */
const char *target_advice(const struct target *, char buf[TARGET_ADVICE]);
/*
 * Let every thread go, running as before: interrupted calls that would fail
 * with EINTR are set to run again, moved PCs are written. Always completes;
 * threads that cannot be detached, because they never stopped, are let go by
 * the kernel when the tracer thread ends.
 */
void target_release(struct target *);
/* Say of each release from now on how long what was held stood still, and until when. */
void target_tell_holds(void);
/*
 * For a program that we have started ourselves, and that has not begun: hold
 * its only thread, which the caller has seized and stopped, over all that is to
 * be done. Until target_let_go, target_release leaves it stopped. What is held
 * so stands where every call is safe.
 */
int target_keep(struct target *, const struct thread_hold *);
void target_let_go(struct target *);
/*
 * A child of ours that ends while we trace it reports to the tracer thread, and then
 * to no other, for parent and tracer are one process. So its end is noted,
 * from target_watch on: has it been reported so, and how did it end?
 */
void target_watch(pid_t child);
bool target_ended(int *wait_status);
/* Wait up to `budget` ns for threads that did not stop in time, longer while they report, and up to
 * a second for one that was asked to and will stop; let each go as soon as it does. */
void target_settle(struct target *, uint64_t budget);
/* The same after a stop that was too long and is to be tried again; and then it
 * runs for as long as that has taken, if that is longer. */
void target_recover(struct target *, uint64_t budget);

/* After a loan: as long as that has taken no thread is held. */
void target_rest(struct target *);

/*
 * -ESRCH: the memory that we have open is not that of the program that the process executes,
 * or it has ended. (A child of vfork may keep the memory of the program before alive.) What
 * cannot be told is taken for the same.
 */
int target_check_program(const struct target *);

/* Seize and stop one thread within `budget` ns. -EAGAIN as above; -ESRCH when the thread or
 * the program is gone. */
int target_stop_one(struct target *, pid_t tid, uint64_t budget,
		    struct thread_hold **ret);

/*
 * Is this thread one that the process's signals are sent to? A signal that the process ignores
 * wakes no thread, unless the one that it is sent to is traced: then it is for any of them, and
 * if that one stands still it wakes another, whose call may end with EINTR (sig_ignored() and
 * complete_signal() in the kernel's signal.c). It is sent to the main thread, and that a child has
 * ended to the thread that made it. Such a thread is seized last, let go first, and lent only
 * where no other can be. One that was seen with children once is such a thread from then on.
 */
bool target_is_addressed(struct target *, pid_t tid);
/* What a thread sleeps in just now. */
struct asleep thread_asleep(pid_t pid, pid_t tid);
/* What it sleeps in right before it is stopped: see regs_hide_call. */
void thread_note(struct thread_hold *, pid_t pid);
/* The registers of a stopped thread, read once. */
int thread_regs(struct thread_hold *);
/* What the stop has met, where the registers do not say it. */
void thread_met(struct thread_hold *);
/* The system call that they stand in has its own number from now on, also if
 * the kernel knows it as restart_syscall. */
void target_name_call(const struct target *, struct regs *);

/*
 * Let a stopped thread run until its next stop, with `request` PTRACE_CONT or
 * PTRACE_SYSCALL and a signal. Returns the wait status (> 0), -ETIMEDOUT after
 * `budget` ns (it still runs), -ESRCH when it is gone.
 */
int thread_resume(struct thread_hold *, int request, int signal, uint64_t budget);
/* Wait for the next stop of a thread that runs; results as above. */
int thread_wait(struct thread_hold *, uint64_t budget);
/*
 * At a signal's stop within a remote call: the signal with which to resume, or
 * -EFAULT: the call itself has made it, and it is to be dropped. A signal that was
 * sent is blocked first: so the kernel puts it back into the queue, with all
 * that it tells, and delivers it when the thread has its own mask again.
 */
int thread_postpone(struct thread_hold *, int status);
/* Bring a thread that runs, or rests in another stop, to PTRACE_EVENT_STOP,
 * the one kind of stop from which registers may be restored for good. A fault
 * of a remote call is dropped; SIGSTOP is passed on. */
int thread_to_event_stop(struct thread_hold *, uint64_t budget);

#endif

/* SPDX-License-Identifier: MIT */
#include "injector/remote/loan.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/ptrace.h>
#include <time.h>

#include "injector/proc/procfs.h"
#include "injector/ptrace/preflight.h"
#include "injector/ptrace/rseq.h"
#include "injector/ptrace/seccomp_all.h"
#include "injector/ptrace/unwind.h"

enum {
	STOP_BUDGET = 20 * 1000 * 1000,		/* ns, for one thread */
	PATIENCE = 100,		/* budgets that one may wait for a processor */
	PAUSE = 3000000,			/* ns between looks */
	SLEEPS_ON = 3,		/* looks at a thread that sleeps, and is not fit */
	FEW_BARRED = 4,		/* by filters: those of one process are alike, so that no
				 * more are stopped in vain */
};

/* The less a stop disturbs a thread, the better it is to borrow. */
enum rank {
	RANK_SLEEPS,		/* in a call that restarts exactly */
	RANK_RUNS,
	RANK_LEAKS,		/* in a call that needs EINTR repaired */
	RANK_BLOCK,		/* in a call with a restart block */
	RANK_NEVER,
};

static enum rank rank_of(pid_t pid, pid_t tid)
{
	char state = procfs_state(pid, tid);
	uint64_t arg;
	raddr_t sp, pc;
	long nr;

	if (state != 'S' && state != 'R')
		return RANK_NEVER;
	if (!procfs_syscall(pid, tid, &nr, &arg, &sp, &pc))
		return RANK_RUNS;
	switch (regs_restarts(nr)) {
	case RESTARTS_BLOCK:
		return RANK_BLOCK;
	case RESTARTS_ITSELF:
		return RANK_SLEEPS;
	case RESTARTS_CHILD:
		return RANK_NEVER;
	default:
		return RANK_LEAKS;
	}
}

/* Functions in whose middle a lock may be held that loading would want: an
 * allocator's, which may stand in any module, and the C library's. */
static const char *const allocators[] = {
	"*malloc*", "*calloc*", "*realloc*", "*memalign*", "*aligned_alloc*", "free",
	"cfree", "*_free", "valloc", "pvalloc", "operator new*", "operator delete*",
};

static const char *const lock_holders[] = {
	"mallinfo*", "pthread_create*", "pthread_exit", "pthread_getattr_np", "dl*", "_dl_*",
	"__libc_dl*", "fork", "_Fork", "vfork", "exit", "__cxa_finalize",
	"__cxa_thread_atexit*", "__libc_freeres", "pthread_atfork", "__register_frame*",
};

/* Standard streams: their locks matter to nothing that we call but to what a
 * constructor of a library might print. */
static const char *const stream_users[] = {
	"*printf*", "*scanf*", "fwrite*", "fread*", "fput*", "put*", "fget*", "get*",
	"fflush*", "_IO_*", "fopen*", "fclose*", "setvbuf", "fseek*", "ftell*", "ungetc",
};

static bool loan_matches(const char *name, const char *const *globs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fnmatch(globs[i], name, 0) == 0)
			return true;
	return false;
}

struct stack_check {
	struct modules *mods;
	const char *bad;	/* the first function that forbids it */
};

static struct module *module_at(struct modules *mods, raddr_t pc)
{
	for (size_t i = 0; i < mods->n; i++)
		for (size_t j = 0; j < mods->v[i].nmaps; j++)
			if (range_has(mods->v[i].maps[j], pc))
				return &mods->v[i];
	return NULL;
}

static bool is_loader(const struct module *m)
{
	return strncmp(m->base, "ld-", 3) == 0 || strncmp(m->base, "ld.so", 5) == 0;
}

/* A library other than libc that brings a malloc of its own: what runs inside
 * it may hold its locks under any name. */
static bool is_allocator(const struct module *m)
{
	raddr_t addr;

	if (m->is_exe || m->is_system || !m->symbols ||
	    symbols_dynamic(m->symbols, "malloc", &addr) < 0) {
		fail_clear();
		return false;
	}
	return true;
}

static int check_frame(void *ctx, const struct unwind_frame *frame)
{
	struct stack_check *c = ctx;
	struct module *m = module_at(c->mods, frame->pc);

	if (!m)
		return 0;
	if (is_loader(m) || (module_symbols(m) == 0 && is_allocator(m))) {
		c->bad = m->base;
		return 1;
	}
	fail_clear();
	const struct func *f = m->symbols ? symbols_func_at(m->symbols, frame->pc - m->bias) : NULL;
	if (!f)
		return 0;
	if (loan_matches(f->name, allocators, ARRAY_SIZE(allocators)) ||
	    (m->is_system && (loan_matches(f->name, lock_holders, ARRAY_SIZE(lock_holders)) ||
			      loan_matches(f->name, stream_users, ARRAY_SIZE(stream_users))))) {
		c->bad = f->name;
		return 2;
	}
	return 0;
}

/*
 * In the C library, and not asleep in a system call: the function may be nameless
 * and hold anything. A call that has ended says nothing: the allocator gives memory
 * back with its lock held.
 */
static bool in_libc_code(struct modules *mods, const struct regs *r)
{
	struct module *m = module_at(mods, regs_pc(r));

	return m && m->is_system && regs_interrupted(r) == INTERRUPTED_NONE;
}

/*
 * Stopped between a fault of its own and the signal that tells of it: within a
 * call for us that would come as the call's, and dropped with it be lost.
 */
static bool has_fault(const struct target *t, pid_t tid)
{
	return (uint64_t)procfs_status(t->pid, tid, "SigPnd", 16, -1) & remote_faults();
}

/* Not to be waited for: it stays pending until the program does something about it. */
static bool holds_fault(const struct target *t, pid_t tid)
{
	return (uint64_t)procfs_status(t->pid, tid, "SigPnd", 16, 0) &
		(uint64_t)procfs_status(t->pid, tid, "SigBlk", 16, 0) & remote_faults();
}

/* Threads that stopped and can never be borrowed, and why the last of them cannot. */
struct barred {
	int n, by_filters;
	bool dispatched;
	const char *call;	/* what its seccomp filters forbid; NULL: they cannot be read */
	bool harm;
};

static bool filters_bar(struct target *t, pid_t tid, struct barred *ret)
{
	seccomp_forget(&t->filters);
	ret->call = NULL;
	return procfs_filtered(t->pid, tid) &&
		(seccomp_read(tid, &t->filters) < 0 ||
		 !seccomp_lends(&t->filters, &ret->call, &ret->harm));
}

/* Can it make our system calls? */
static bool is_barred(struct target *t, const struct thread_hold *th, struct barred *ret)
{
	bool filtered = filters_bar(t, th->tid, ret);

	ret->dispatched = !filtered && seccomp_is_dispatched(th->tid);
	ret->by_filters += filtered;
	ret->n += filtered || ret->dispatched;
	return filtered || ret->dispatched;
}

/* A sleep that the loan ends is to go on with the time that remains. */
static bool keeps_sleep(struct thread_hold *th)
{
	if (regs_interrupted(&th->regs) != INTERRUPTED_BLOCK)
		return true;
	thread_met(th);
	return regs_goes_on(&th->regs);
}

/* What libraries' code calls is not known: a thread under filters makes our calls only. */
static bool is_fit(struct target *t, struct modules *mods, enum loan_use use,
		   struct thread_hold *th)
{
	struct stack_check c = { mods, NULL };

	if (thread_regs(th) || !keeps_sleep(th))
		return false;
	if ((use != LOAN_SYSCALLS && t->filters.tid) || has_fault(t, th->tid) ||
	    rseq_is_inside(t, th) || !remote_has_room(t, th))
		return false;
	if (use == LOAN_SYSCALLS)
		return true;
	if (in_libc_code(mods, &th->regs))
		return false;
	/* A stack that cannot be read to its end may hide anything. */
	return unwind_walk(t, th->tid, check_frame, &c) && !c.bad;
}

/*
 * One that wants to run stops when its turn comes, and loses nothing till then.
 * To go on to the next instead, which waits for its turn, too, would be to find
 * none among hundreds.
 */
static int stop_thread(struct target *t, pid_t tid, struct thread_hold **ret)
{
	int err = target_stop_one(t, tid, STOP_BUDGET, ret);

	for (int i = 1; i < PATIENCE && err == -EAGAIN && procfs_state(t->pid, tid) == 'R'; i++) {
		fail_clear();
		err = target_stop_one(t, tid, STOP_BUDGET, ret);
	}
	return err;
}

/*
 * A thread that was asked to stop and does not, as in an uninterruptible call, is waited for
 * before another is asked, which would stand still beside it for nothing. It is let go when it
 * stops. One that wants to run stops when its turn comes.
 */
static int await_stragglers(struct target *t)
{
	for (int i = 0; i < PATIENCE && t->nthreads; i++) {
		target_settle(t, STOP_BUDGET);
		if (t->nthreads && procfs_state(t->pid, t->threads[0].tid) != 'R')
			break;
	}
	if (!t->nthreads)
		return 0;
	return fail(0, "thread %d of %d (%s) does not stop, as in an uninterruptible call; "
		    "try again", t->threads[0].tid, t->pid, t->comm), -EAGAIN;
}

static int refuse_barred(const struct target *t, const struct barred *b)
{
	if (!b->dispatched)
		return preflight_refuse_filter(t->pid, b->call, b->harm);
	return fail(0, "cannot attach to %d (%s): its system calls are given to a handler "
		    "of its own (PR_SET_SYSCALL_USER_DISPATCH), and so would be those "
		    "that loading needs", t->pid, t->comm), -EPERM;
}

/* Calls in stubs leave addresses of stubs on the stack beside, and so do ours: the returns of
 * functions that were called there would be its end. */
static int refuse_shadow(const struct target *t, pid_t tid)
{
	return fail(0, "cannot attach to %d (%s): the processor checks each return of thread %d "
		    "(shadow stack), which probes do not keep right; start the program "
		    "without that", t->pid, t->comm, tid), -EPERM;
}

/* What was seen of the threads that were not fit. */
struct unfit {
	raddr_t sp;		/* of the only one, if it was in its sleep; 0: it was awake */
	int stopped, hold;	/* so often did one stop, and so often held that one a fault */
};

/* One look for a thread that is fit. */
struct search {
	struct modules *mods;
	enum loan_use use;
	unsigned int turn;	/* at which of them it begins */
	bool filtered;		/* all threads are */
	bool addressed;		/* none but those that signals are sent to is left */
	int tried;
	struct barred barred;
	struct unfit *seen;
};

/* Stop this one: 0 if it is fit; -EAGAIN if not, and it is let go. *tid is 0 then if it can never
 * be borrowed. */
static int take_one(struct target *t, struct search *s, pid_t *tid, struct thread_hold **ret)
{
	int err = stop_thread(t, *tid, ret);
	/* (It may have made a child since it was looked at.) */
	bool late = !err && !s->addressed && target_is_addressed(t, *tid);
	bool bar = !err && (late || is_barred(t, *ret, &s->barred));

	if (!err && regs_has_shadow(*tid))
		err = refuse_shadow(t, *tid);
	s->tried++;
	if (!err && !bar && is_fit(t, s->mods, s->use, *ret))
		return 0;
	s->seen->stopped += !err;
	s->seen->hold += !err && holds_fault(t, *tid);
	s->seen->sp = err || s->tried > 1 || regs_interrupted(&(*ret)->regs) == INTERRUPTED_NONE ?
		0 : regs_sp(&(*ret)->regs);
	target_release(t);
	if (bar)
		*tid = 0;	/* once is enough */
	if (err && err != -EAGAIN && err != -ESRCH)
		return err;
	fail_clear();
	return -EAGAIN;
}

static int take_among(struct target *t, struct search *s, pid_t *tids, int n,
		      struct thread_hold **ret)
{
	int err = -EAGAIN;

	for (int rank = RANK_SLEEPS; rank < RANK_NEVER; rank++) {
		for (int i = 0; i < n && err == -EAGAIN; i++) {
			pid_t *tid = &tids[((unsigned)i + s->turn) % (unsigned)n];

			if (!*tid || (int)rank_of(t->pid, *tid) != rank ||
			    procfs_filtered(t->pid, *tid) != s->filtered ||
			    s->barred.by_filters == FEW_BARRED)
				continue;
			err = take_one(t, s, tid, ret);
		}
	}
	return err;
}

/* Those that signals are sent to go to the end. Returns how many others there are. */
static int put_addressed_last(struct target *t, pid_t *tids, int n)
{
	int others = 0;

	for (int i = 0; i < n; i++) {
		pid_t tid = tids[i];

		if (target_is_addressed(t, tid))
			continue;
		tids[i] = tids[others];
		tids[others++] = tid;
	}
	return others;
}

/* Stop one that is fit now; -EAGAIN when none is. *seen is added to. */
static int loan_take(struct target *t, struct modules *mods, enum loan_use use, unsigned turn,
		     struct thread_hold **ret, struct unfit *seen)
{
	struct search s = { mods, use, turn, .seen = seen };
	auto_free pid_t *tids = NULL;
	int n = procfs_threads(t->pid, &tids);

	if (t->kept) {
		*ret = &t->threads[0];
		return 0;
	}
	if (n < 0)
		return fail(-n, "%d (%s) is gone", t->pid, t->comm);
	if (await_stragglers(t))
		return -EAGAIN;
	s.filtered = procfs_all_filtered(t->pid);
	int others = put_addressed_last(t, tids, n);
	int err = take_among(t, &s, tids, others, ret);

	s.barred.by_filters = 0;	/* these may have others */
	s.addressed = true;
	err = err == -EAGAIN ? take_among(t, &s, tids + others, n - others, ret) : err;
	if (err != -EAGAIN)
		return err;
	if (s.barred.n && s.barred.n == s.tried)
		return refuse_barred(t, &s.barred);
	if (target_check_program(t))
		return -ESRCH;
	return fail(0, "no thread of %d (%s) stands in a safe place%s; try again", t->pid, t->comm,
		    seen->hold && seen->hold == seen->stopped ? ", for each blocks SIGTRAP, "
		    "SIGSEGV or the like, which is pending" : ""), -EAGAIN;
}

/* A process's only thread that was not fit in its sleep. */
struct sleeper {
	int looks;		/* at which it slept since */
	struct asleep last;	/* at the last of them */
};

/* Does it sleep on? Whatever makes it unfit for dlopen stays as it is until it wakes up. */
static bool sleeps_on(const struct target *t, const struct unfit *seen, struct sleeper *s)
{
	struct asleep now = thread_asleep(t->pid, procfs_front(t->pid));
	struct asleep was = s->looks ? s->last : now;

	if (!seen->sp || now.sp != seen->sp || now.nr != was.nr || now.arg != was.arg ||
	    now.pc != was.pc || now.switches != was.switches)
		return false;
	s->last = now;
	s->looks++;
	return true;
}

int loan_borrow(struct target *t, struct modules *mods, enum loan_use use, int tries,
		  const struct gadgets *gadgets, struct remote *ret)
{
	struct sleeper sleeper = { 0 };
	struct unfit seen = { 0 };
	struct thread_hold *th;
	int err = -EAGAIN;

	/* The stacks of threads that may load are walked: what is loaded just now? */
	if ((use != LOAN_SYSCALLS || !t->layout.n) && !t->kept &&
	    layout_read(&t->layout, t->pid, NULL, NULL) < 0)
		fail_clear();
	for (int i = 0; i < tries && err == -EAGAIN && sleeper.looks < SLEEPS_ON; i++) {
		if (use == LOAN_LOAD && sleeps_on(t, &seen, &sleeper)) {
			nanosleep(&(struct timespec){ 0, PAUSE }, NULL);
			continue;
		}
		fail_clear();
		sleeper = (struct sleeper){ 0 };
		seen.sp = 0;
		err = loan_take(t, mods, use, (unsigned)i, &th, &seen);
		if (!err) {
			err = remote_begin(t, th, gadgets, 0, ret);
			if (err)
				target_release(t);
		}
		if (err == -EAGAIN)
			target_settle(t, PAUSE);
		if (err == -EAGAIN)
			nanosleep(&(struct timespec){ 0, PAUSE }, NULL);
	}
	return err;
}

int loan_give_back(struct remote *r, int err)
{
	int back = remote_end(r);

	target_release(r->target);
	return err ? err : back;
}

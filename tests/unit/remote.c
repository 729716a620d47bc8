/* SPDX-License-Identifier: MIT */
/*
 * Is a borrowed thread given back that does not stop for longer than any budget, but
 * only because it has no time to: it runs in the kernel, as others wait for a processor?
 * And does one that sleeps, and could not be given back, go home as it was? Does one that
 * handles its own system calls keep its handler when ours is given to it? Is a call waited for
 * while the kernel holds its thread, and while that gets hardly any processor, but not for ever?
 * Is it made by a thread that sleeps in the very code by which calls are made? Does nothing that
 * was left on a stack say where the thread was?
 */
#include "injector/remote/remote.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "injector/infect/infect_impl.h"
#include "injector/proc/procfs.h"
#include "injector/ptrace/tracing.h"
#include "tests/machine.h"
#include "tests/unit/check.h"

/* What the C library makes of epoll_wait(2) where there is no such call. */
#ifndef SYS_epoll_wait
#define SYS_epoll_wait SYS_epoll_pwait
#endif

enum {
	TRIES = 5000,		/* of 2 ms */
	STOP = 2000 * 1000 * 1000,	/* ns */
	BUSY_MS = 1100,		/* no budget is as long; and twenty are longer on any machine */
	AWAY_MS = 3000,
	CALL = 500 * 1000 * 1000,	/* ns, less than AWAY_MS */
	SHORT = 1000 * 1000,	/* ns: of twenty budgets few need be enough */
	WORK = 5 * 1000 * 1000,	/* ns of a processor */
	SAMPLE = 1 << 30,	/* bytes */
	SET_DISPATCH = 59,	/* PR_SET_SYSCALL_USER_DISPATCH */
};

/* What the child shares with us. */
static struct {
	uint64_t size;		/* of what is mapped by the thread that has no time */
	uint64_t answers;
	uint32_t done, turn;
	bool busy;
	char dispatch;		/* SYSCALL_DISPATCH_FILTER_*: which calls it handles */
} *shared;

static int words[2];		/* a pipe */
static pid_t child;
static bool dispatched;		/* its system calls, as `dispatch` says */

/* Pages of zeros take no memory but for tables, and a signal does not end it. */
static void *fill(uint64_t size)
{
	return mmap(NULL, size, PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_POPULATE, -1, 0);
}

/* How much is to be mapped so that it takes BUSY_MS, with what else the machine does?
 * 0: that cannot be had. */
static uint64_t measure(void)
{
	uint64_t since = now_ns();
	void *p = fill(SAMPLE);

	if (p == MAP_FAILED)
		return 0;
	uint64_t took = now_ns() - since;
	munmap(p, SAMPLE);
	return MAX((uint64_t)BUSY_MS * 1000000 * (SAMPLE >> 20) / MAX(took, 1u), 1u) << 20;
}

/* --- in the child --- */

static void handle(int sig) { (void)sig; }

/* In a call that returns EINTR when it is stopped: what lets it go sets its registers. */
static void answer(void)
{
	struct epoll_event e = { .events = EPOLLIN };
	int set = epoll_create1(EPOLL_CLOEXEC);
	char c;

	epoll_ctl(set, EPOLL_CTL_ADD, words[0], &e);
	for (;;)
		if (epoll_wait(set, &e, 1, -1) == 1 && read(words[0], &c, 1) == 1)
			__atomic_fetch_add(&shared->answers, 1, __ATOMIC_RELEASE);
}

static void busy(void)
{
	__atomic_store_n(&shared->busy, true, __ATOMIC_RELEASE);
	fill(shared->size);
	for (;;)
		;
}

static void work(void)
{
	__atomic_store_n(&shared->done, shared->turn, __ATOMIC_RELEASE);
	busy();
}

/* Nothing but a kill ends this sleep, until it is over. */
static void away(void)
{
	if (vfork() == 0) {
		struct timespec t = { AWAY_MS / 1000, AWAY_MS % 1000 * 1000000 };

		syscall(SYS_nanosleep, &t, NULL);
		_exit(0);
	}
}

/* nanosleep(long_sleep, NULL), by a call with its return right behind it. */
static const struct timespec long_sleep = { 1000, 0 };
extern const char sleeps_here[];

static void sleep_there(void)
{
	MACHINE_CALL("sleeps_here", SYS_nanosleep, &long_sleep, 0);
}

/* A few budgets of a processor's time, which it gets hardly any of. */
static void take_time(void)
{
	struct timespec t, since;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &since);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while ((t.tv_sec - since.tv_sec) * 1000000000ll + t.tv_nsec - since.tv_nsec < WORK);
}

static void run_on(void)
{
	for (;;)
		;
}

/* --- here --- */

static bool is_asleep(void)
{
	uint64_t arg;
	raddr_t sp, pc;
	long nr;

	return procfs_syscall(child, child, &nr, &arg, &sp, &pc) &&
		(nr == SYS_epoll_wait || nr == SYS_epoll_pwait);
}

static bool is_in_its_sleep(void)
{
	uint64_t arg;
	raddr_t sp, pc;
	long nr;

	return procfs_syscall(child, child, &nr, &arg, &sp, &pc) && nr == SYS_nanosleep;
}

static bool is_busy(void) { return __atomic_load_n(&shared->busy, __ATOMIC_ACQUIRE); }
static bool is_away(void) { return procfs_state(child, child) == 'D'; }

static void wait_for(bool (*what)(void))
{
	int i;

	for (i = 0; i < TRIES && !what(); i++)
		usleep(2000);
	MUST(i < TRIES);
}

static int64_t blocked(void) { return procfs_status(child, child, "SigBlk", 16, -1); }

static uint64_t answers;

static bool has_answered(void)
{
	return __atomic_load_n(&shared->answers, __ATOMIC_ACQUIRE) == answers;
}

static void check_home(int64_t mask)
{
	answers++;
	MUST(write(words[1], "", 1) == 1);
	wait_for(has_answered);
	MUST(blocked() == mask);
	MUST(procfs_status(child, child, "TracerPid", 10, -1) == 0);
}

static void begin(struct target *t, struct remote *r)
{
	struct thread_hold *th;
	struct gadgets g;

	MUST(target_open(child, t) == 0);
	MUST(remote_gadgets(t, (struct range){ 0 }, &g) == 0);
	MUST(target_stop_one(t, child, STOP, &th) == 0);
	MUST(remote_begin(t, th, &g, 0, r) == 0);
	MUST(regs_interrupted(&r->saved) == INTERRUPTED_EINTR);
}

static raddr_t frame_pc(const struct remote *r)
{
	raddr_t pc;

	MUST(target_read(r->target, r->frame + (raddr_t)frame_pc_offset, &pc, sizeof(pc)) == 0);
	return pc;
}

static void run(struct remote *r, void (*fn)(void))
{
	struct regs regs = r->saved;

	regs_call(&regs, (uintptr_t)fn, NULL, 0, r->way, r->gadgets.sigreturn);
	MUST(regs_set(child, &regs) == 0);
	MUST(thread_resume(r->thread, PTRACE_CONT, 0, 0) == -ETIMEDOUT);
}

static void end(struct target *t)
{
	target_release(t);
	MUST(t->nthreads == 0);
	target_close(t);
}

static int late_to_end(void *unused)
{
	struct target t;
	struct remote r;

	begin(&t, &r);
	run(&r, busy);
	wait_for(is_busy);
	MUST(remote_end(&r) == 0);
	end(&t);
	return 0;
}

static int late_to_be_fetched(void *unused)
{
	struct target t;
	struct remote r;
	struct remote_job job = {
		.fn = (uintptr_t)work, .code = { 0, UINTPTR_MAX }, .turn = 1,
		.done = (uintptr_t)&shared->done, .turn_at = (uintptr_t)&shared->turn,
	};

	shared->turn = 1;
	begin(&t, &r);
	MUST(remote_work(&r, &job) == 0);
	MUST(remote_end(&r) == 0);
	end(&t);
	return 0;
}

/* A thread that is killed for what it does not handle itself any more has lost its handler. */
static int given_to_handler(void *unused)
{
	enum { ALLOW, BLOCK };
	struct target t;
	struct remote r;
	int64_t ret;

	begin(&t, &r);
	shared->dispatch = BLOCK;
	MUST(remote_syscall(&r, SYS_getpid, (const uint64_t[6]){ 0 }, &ret) == -EFAULT);
	fail_clear();
	shared->dispatch = ALLOW;
	MUST(remote_end(&r) == 0);
	MUST(procfs_caught(child) & 1ull << (SIGSYS - 1));
	end(&t);
	return 0;
}

/* It is held still, and stops when its sleep is over: the way back has all of it. */
static int left_behind(void *unused)
{
	struct target t;
	struct remote r;

	begin(&t, &r);
	run(&r, away);
	wait_for(is_away);
	MUST(remote_end(&r) == -ETIMEDOUT);
	MUST(strstr(fail_text(), "to give it back"));
	fail_clear();
	target_release(&t);
	target_settle(&t, (uint64_t)TRIES * 2000000);
	end(&t);
	return 0;
}

/* What it waits for there another thread of a real program has. */
static int called_while_held(void *unused)
{
	struct target t;
	struct remote r;

	begin(&t, &r);
	MUST(remote_call(&r, (uintptr_t)away, 0, 0, CALL) == 0);
	MUST(remote_end(&r) == 0);
	end(&t);
	return 0;
}

/* Beside one that has all of the processor that it may run on. */
static pid_t crowd_out(void)
{
	const struct sched_param none = { 0 };
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	MUST(sched_setaffinity(child, sizeof(one), &one) == 0);
	MUST(sched_setscheduler(child, SCHED_IDLE, &none) == 0);
	pid_t other = fork();

	MUST(other >= 0);
	if (!other) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sched_setaffinity(0, sizeof(one), &one);
		run_on();
	}
	return other;
}

static int called_in_a_crowd(void *unused)
{
	struct target t;
	struct remote r;

	begin(&t, &r);
	pid_t other = crowd_out();

	MUST(remote_call(&r, (uintptr_t)take_time, 0, 0, SHORT) == 0);
	MUST(kill(other, SIGKILL) == 0 && waitpid(other, NULL, 0) == other);
	MUST(remote_end(&r) == 0);
	end(&t);
	return 0;
}

static int called_for_ever(void *unused)
{
	struct target t;
	struct remote r;

	begin(&t, &r);
	MUST(remote_call(&r, (uintptr_t)run_on, 0, 0, SHORT) == -ETIMEDOUT);
	MUST(strstr(fail_text(), "does not end: it runs"));
	fail_clear();
	MUST(remote_end(&r) == 0);
	end(&t);
	return 0;
}

static char stack[SCRATCH_CODE + SCRATCH_STACK];
static bool is_to_go;

static int go_there(struct infecting *in)
{
	MUST(infect_use_stack(in) == 0 && in->result->map.s->scratch == 0);
	if (is_to_go) {
		run(&in->remote, away);
		wait_for(is_away);
	}
	return 0;
}

/* No thread is sent to the stack of ours before the last one that was is home. */
static int on_our_stack(void *unused)
{
	static struct session session;
	struct infection inf = { .map.s = &session };
	struct target t;
	struct infecting in = { .target = &t, .result = &inf, .scratch = (uintptr_t)stack };

	MUST(target_open(child, &t) == 0);
	MUST(remote_gadgets(&t, (struct range){ 0 }, &in.gadgets) == 0);
	MUST(infect_with_borrowed(&in, LOAN_SYSCALLS, go_there) == 0);
	MUST(session.scratch == in.scratch && !in.busy);
	is_to_go = true;
	MUST(infect_with_borrowed(&in, LOAN_SYSCALLS, go_there) == -ETIMEDOUT);
	MUST(session.scratch == 0 && in.busy);
	fail_clear();
	target_settle(&t, (uint64_t)TRIES * 2000000);
	end(&t);
	return 0;
}

static int called_in_its_sleep(void *unused)
{
	struct thread_hold *th;
	struct target t;
	struct remote r;
	struct gadgets g;
	int64_t ret;

	MUST(target_open(child, &t) == 0);
	MUST(remote_gadgets(&t, (struct range){ 0 }, &g) == 0);
	MUST(g.other && g.other != g.syscall_ret);
	g.syscall_ret = (uintptr_t)sleeps_here;
	for (int i = 0; i < 2; i++) {
		MUST(target_stop_one(&t, child, STOP, &th) == 0);
		MUST(remote_begin(&t, th, &g, 0, &r) == 0);
		MUST(remote_syscall(&r, SYS_getpid, (const uint64_t[6]){ 0 }, &ret) == 0);
		MUST(ret == child);
		MUST(frame_pc(&r) != 0);
		MUST(remote_end(&r) == 0);
		MUST(frame_pc(&r) == 0);
		target_release(&t);
	}
	if (regs_pc(&r.saved) == g.syscall_ret) {
		g.other = 0;
		MUST(target_stop_one(&t, child, STOP, &th) == 0);
		MUST(remote_begin(&t, th, &g, 0, &r) == -EAGAIN && !remote_is_held(&r));
		fail_clear();
	}
	end(&t);
	return 0;
}

static void play_asleep(void)
{
	child = fork();
	MUST(child >= 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sleep_there();
		_exit(1);
	}
	wait_for(is_in_its_sleep);
	MUST(tracing(called_in_its_sleep, NULL) == 0);
	usleep(2000);
	MUST(procfs_state(child, child) == 'S');
	MUST(kill(child, SIGKILL) == 0);
	waitpid(child, NULL, 0);
}

static void play(int (*scene)(void *))
{
	int64_t mask;

	child = fork();
	MUST(child >= 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGSYS, handle);
		prctl(SET_DISPATCH, dispatched, 0, 0, dispatched ? &shared->dispatch : NULL);
		answer();
	}
	answers = 0;
	shared->answers = 0;
	wait_for(is_asleep);
	mask = blocked();
	MUST(tracing(scene, NULL) == 0);
	check_home(mask);
	MUST(kill(child, SIGKILL) == 0);
	waitpid(child, NULL, 0);
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(shared != MAP_FAILED && pipe(words) == 0);
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	shared->size = measure();
	if (!shared->size) {
		printf("skipped: no room for %d MiB of addresses\n", SAMPLE >> 20);
		return 77;
	}
	play(late_to_end);
	play(late_to_be_fetched);
	play(left_behind);
	play(on_our_stack);
	play(called_while_held);
	play(called_in_a_crowd);
	play(called_for_ever);
	play_asleep();
	dispatched = prctl(SET_DISPATCH, 0, 0, 0, 0) == 0;
	if (dispatched)
		play(given_to_handler);
	return 0;
}

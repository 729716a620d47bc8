/* SPDX-License-Identifier: MIT */
/*
 * Is each thread reaped that was asked to stop, or cannot be let go any more, whatever becomes
 * of it?
 */
#include "injector/ptrace/target_impl.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "injector/proc/procfs.h"
#include "injector/ptrace/tracing.h"
#include "tests/unit/check.h"

enum {
	TRIES = 5000,			/* of 2 ms */
	SPINS = 100 * 1000,
	SHORT = 20 * 1000 * 1000,	/* ns: an impatient budget */
	MEMORY = 128 << 20,		/* an execve takes a while to give it back */
	CHASES = 100,
	STEP = 7000,			/* ns, by which these differ */
};

static const uint64_t patience = 20000000000;	/* ns, for threads that may be without a
						 * processor */

enum then { THEN_COUNTS, THEN_ENDS, THEN_EXECUTES };

/* What the child shares with us. */
static struct {
	pid_t leader, other;
	uint64_t turns[2];	/* that each has made */
	bool go_away;		/* the leader is to, and then: */
	enum then then;
	bool come_back, shares;
	bool other_leaves;	/* and then: */
	enum then other_then;
	bool is_large;
} *shared;

static pid_t child;

/* --- in the child --- */

static void count_on(int i)
{
	struct timespec t = { 0, 1000 * 1000 };

	for (;;) {
		__atomic_fetch_add(&shared->turns[i], 1, __ATOMIC_RELEASE);
		nanosleep(&t, NULL);
		if (__atomic_load_n(i ? &shared->other_leaves : &shared->go_away,
				    __ATOMIC_ACQUIRE))
			return;
	}
}

static void execute(void)
{
	execl("/bin/sleep", "sleep", "100", NULL);
}

static void *other(void *unused)
{
	__atomic_store_n(&shared->other, gettid(), __ATOMIC_RELEASE);
	count_on(1);
	if (shared->other_then == THEN_EXECUTES)
		execute();
	return unused;
}

/* As vfork, with its memory or without: nothing but a kill ends this wait, until it is over.
 * (A child that shares the memory outlives the thread.) */
static void away(void)
{
	long flags = CLONE_VFORK | SIGCHLD | (shared->shares ? CLONE_VM : 0);

	if (syscall(SYS_clone, flags, 0, 0, 0, 0) == 0) {
		struct timespec t = { 0, 1000 * 1000 };

		if (!shared->shares)
			prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() != 1 && !__atomic_load_n(&shared->come_back, __ATOMIC_ACQUIRE))
			syscall(SYS_nanosleep, &t, NULL);
		_exit(0);
	}
}

static void grow(void)
{
	void *p = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, MEMORY, MADV_NOHUGEPAGE);
	memset(p, 1, MEMORY);
}

static __attribute__((noreturn)) void live(void)
{
	pthread_t t;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (shared->is_large)
		grow();
	pthread_create(&t, NULL, other, NULL);
	count_on(0);
	if (shared->then == THEN_ENDS)
		syscall(SYS_exit, 0);
	if (shared->then == THEN_EXECUTES)
		execute();
	away();
	shared->go_away = false;
	count_on(0);
	exit(0);
}

static char maker[16];	/* the process that made the first, in digits */

static void *execute_again(void *self)
{
	execl("/proc/self/exe", self, maker, NULL);
	return NULL;
}

/* Each program begins the next one, by its main thread or by another: of those two the kernel
 * tells one only that its maker has died. */
static __attribute__((noreturn)) void live_shortly(char *self)
{
	pthread_t t;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != atoi(maker))
		_exit(0);
	usleep(300);
	pthread_create(&t, NULL, execute_again, self);
	usleep((unsigned int)(now_ns() % 500));
	execute_again(self);
	_exit(1);
}

/* --- here --- */

static bool comes(bool (*what)(void))
{
	int i;

	for (i = 0; i < TRIES && !what(); i++)
		usleep(2000);
	return i < TRIES;
}

static bool is_alive(void) { return __atomic_load_n(&shared->other, __ATOMIC_ACQUIRE); }
static bool is_away(void) { return procfs_state(child, child) == 'D'; }
static bool is_zombie(void) { return procfs_state(child, child) == 'Z'; }
static bool is_other_zombie(void) { return procfs_state(child, shared->other) == 'Z'; }
static bool is_free(void) { return procfs_status(child, child, "TracerPid", 10, -1) == 0; }

static bool has_executed(void)
{
	char comm[32];

	procfs_comm(child, comm, sizeof(comm));
	return strcmp(comm, "sleep") == 0;
}

static bool has_executed_and_sleeps(void)
{
	return has_executed() && procfs_state(child, child) == 'S';
}


/* The kernel lists no other thread, not even one that ends. */
static bool is_alone(void)
{
	pid_t *tids = NULL;
	int n = procfs_tasks(child, &tids);

	free(tids);
	return n == 1;
}

static bool is_gone(void) { return !procfs_state(child, child); }

static void stay_on(pid_t tid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(tid, sizeof(set), &set);
}

static void send_away(enum then then)
{
	shared->then = then;
	__atomic_store_n(&shared->go_away, true, __ATOMIC_RELEASE);
	MUST(comes(is_away));
}

/* The leader is asked, in vain. */
static void ask(struct target *t)
{
	struct thread_hold *th;

	MUST(target_stop_one(t, child, SHORT, &th) == -EAGAIN);
	fail_clear();
	target_release(t);
	MUST(t->nthreads == 1);
}

/* It runs, and is ours. */
static void go_on(struct thread_hold *th)
{
	MUST(ptrace(PTRACE_CONT, th->tid, 0, 0) == 0);
	th->hold = HOLD_SEIZED;
}

/* The main thread ends after all: it is not waited for, whether it stops or ends; but its end
 * is reaped when it comes. */
static int leave(void *target)
{
	struct target *t = target;

	MUST(target_stop(t, patience) == 0 && t->nthreads == 2);
	shared->then = THEN_ENDS;
	shared->go_away = true;
	MUST(ptrace(PTRACE_CONT, child, 0, 0) == 0);
	MUST(comes(is_zombie));
	target_release(t);
	MUST(!t->nthreads);
	MUST(target_stop(t, patience) == 0);
	MUST(t->nthreads == 1 && t->threads[0].tid == shared->other);
	target_release(t);
	shared->other_leaves = true;
	MUST(comes(is_alone));
	target_settle(t, 0);
	MUST(is_gone());
	return 0;
}

/* A thread that executes a program is let go, and is not named in what fails later. */
static int execute_late(void *target)
{
	struct target *t = target;
	struct thread_hold *th;

	shared->then = THEN_EXECUTES;
	MUST(target_stop_one(t, child, patience, &th) == 0);
	shared->go_away = true;
	go_on(th);
	MUST(comes(has_executed));
	target_settle(t, patience);
	MUST(!t->nthreads && !fail_text()[0] && is_free());
	return 0;
}

/* The same of another than the main thread, whose id is that one's all at once, long before it
 * stops. */
static int change_ids(void *target)
{
	struct target *t = target;
	struct thread_hold *th;

	shared->other_then = THEN_EXECUTES;
	MUST(target_stop_one(t, shared->other, patience, &th) == 0);
	shared->other_leaves = true;
	go_on(th);
	while (procfs_state(child, shared->other))
		;
	target_settle(t, patience);
	MUST(!t->nthreads && comes(has_executed) && is_free());
	return 0;
}

/*
 * One that is let go before the others executes a program, which kills them where they
 * stand: they can only be reaped, for which that one waits. No thread dies at once where we spin.
 */
static void execute_amid(struct target *t)
{
	shared->then = THEN_EXECUTES;
	MUST(target_stop(t, patience) == 0 && t->nthreads == 2);
	stay_on(shared->other, 0);
	stay_on(child, 1);
	stay_on(0, 0);
	shared->go_away = true;
	MUST(ptrace(PTRACE_DETACH, child, 0, 0) == 0);
	for (int i = 0; i < SPINS && procfs_state(child, shared->other) == 't'; i++)
		;
}

static int let_go_killed(void *target)
{
	struct target *t = target;

	execute_amid(t);
	target_settle(t, patience);
	MUST(!t->nthreads && comes(has_executed) && is_free());
	return 0;
}

static int resume_killed(void *target)
{
	struct target *t = target;

	execute_amid(t);
	MUST(target_take(t, shared->other, W_STOPCODE(SIGURG)) == 0);
	MUST(target_find(t, shared->other)->hold != HOLD_GONE);
	target_settle(t, patience);
	MUST(!t->nthreads && comes(has_executed) && is_free());
	return 0;
}

/* A thread that was asked is taken away by another that executes a program: it reports nothing,
 * and the thread that has its id now is none that we hold. */
static int vanish(void *target)
{
	struct target *t = target;
	struct thread_hold *th;

	shared->other_then = THEN_EXECUTES;
	send_away(THEN_COUNTS);
	ask(t);
	shared->other_leaves = true;
	MUST(comes(has_executed_and_sleeps));
	MUST(target_stop_one(t, child, patience, &th) == -ESRCH && t->nthreads == 1);
	fail_clear();
	return 0;
}

/* The program that we have opened is executed no more, but a child of it lives on in its
 * memory: the next one's threads are not lent, and not stopped for what is that one's. */
static int live_on(void *target)
{
	struct target *t = target;
	struct thread_hold *th;

	shared->shares = true;
	shared->other_then = THEN_EXECUTES;
	send_away(THEN_COUNTS);
	shared->other_leaves = true;
	MUST(comes(has_executed_and_sleeps));
	MUST(pread(t->mem, &(char){ 0 }, 1, 0) < 0);
	MUST(target_stop_one(t, child, patience, &th) == -ESRCH);
	fail_clear();
	target_release(t);
	MUST(target_stop(t, patience) == -ESRCH);
	fail_clear();
	__atomic_store_n(&shared->come_back, true, __ATOMIC_RELEASE);
	return 0;
}

/* A thread that executes a program waits until one that we hold is reaped, and our request for
 * the former waits for that. */
static int wait_for_each_other(void *target)
{
	struct target *t = target;
	struct thread_hold *th;

	shared->then = THEN_EXECUTES;
	MUST(target_stop_one(t, shared->other, patience, &th) == 0);
	go_on(th);
	shared->go_away = true;
	MUST(comes(is_other_zombie));
	MUST(target_stop(t, patience) == -ESRCH);
	fail_clear();
	target_release(t);
	target_settle(t, patience);
	MUST(!t->nthreads && comes(has_executed) && is_free());
	return 0;
}

static int play_on(void *scene)
{
	struct target t;

	MUST(target_open(child, &t) == 0);
	(*(int (**)(void *))scene)(&t);
	target_release(&t);
	MUST(!t.nthreads);
	target_close(&t);
	return 0;
}

static void play(int (*scene)(void *), bool is_large)
{
	memset(shared, 0, sizeof(*shared));
	shared->is_large = is_large;
	child = fork();
	MUST(child >= 0);
	if (!child)
		live();
	MUST(comes(is_alive));
	MUST(tracing(play_on, &scene) == 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* A thread of one that executes and executes is asked at some moment, and let go. */
static int chase_on(void *unused)
{
	int met = 0;

	(void)unused;
	for (int i = 0; i < CHASES; i++) {
		auto_free pid_t *tids = NULL;
		int n = procfs_tasks(child, &tids);
		struct thread_hold *th;
		struct target t;

		fail_clear();
		/* A process that executes a program has no memory for a moment. */
		if (n <= 0 || target_open(child, &t))
			continue;
		target_stop_one(&t, tids[i % n], (uint64_t)i * STEP, &th);
		met++;
		target_release(&t);
		target_settle(&t, patience);
		MUST(!t.nthreads && comes(is_free));
		target_close(&t);
		usleep((unsigned int)(i * STEP / 1000));
	}
	MUST(met > CHASES / 2);
	return 0;
}

static void chase(char *self)
{
	snprintf(maker, sizeof(maker), "%d", getpid());
	child = fork();
	MUST(child >= 0);
	if (!child)
		live_shortly(self);
	MUST(tracing(chase_on, NULL) == 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		snprintf(maker, sizeof(maker), "%s", argv[1]);
		live_shortly(argv[0]);
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(shared != MAP_FAILED);
	play(leave, false);
	play(execute_late, false);
	play(change_ids, true);
	play(let_go_killed, false);
	play(resume_killed, false);
	play(vanish, false);
	play(live_on, false);
	play(wait_for_each_other, false);
	chase(argv[0]);
	return 0;
}

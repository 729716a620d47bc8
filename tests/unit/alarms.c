/* SPDX-License-Identifier: MIT */
/*
 * A process that sleeps has a timer of its processor time, which a loan of its only thread
 * sets off: does it sleep on, and does the timer go off when it works itself? And is what
 * waited before left to wait?
 */
#include "injector/remote/remote.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "injector/proc/procfs.h"
#include "injector/ptrace/tracing.h"
#include "tests/unit/check.h"

enum {
	TRIES = 5000,			/* of 2 ms */
	STOP = 2000 * 1000 * 1000,	/* ns */
	SOON = 1000,			/* us */
	OFTEN = 10 * 1000,
	PLAYS = 10,
};

enum kind { PROF, VIRTUAL, OF_PROCESS, OF_THREAD, KINDS };

/* What the child shares with us. */
static struct {
	enum kind kind;
	bool once;		/* it goes off once */
	bool blocks;		/* its signal is blocked, and waits before we come */
	bool ready;
	int signals, ends;	/* that came; sleeps that ended with an error */
	int answers, asked;
	bool works;		/* as long as this it works by itself */
} *shared;

static int words[2];
static pid_t child;

static void tell_state(void)
{
	fprintf(stderr, "kind %d%s%s; %d signals, %d ends\n", shared->kind,
		shared->once ? ", once" : "", shared->blocks ? ", blocks" : "",
		shared->signals, shared->ends);
	if (child > 0)
		kill(child, SIGKILL);
}

static int signal_of(void) { return shared->kind == VIRTUAL ? SIGVTALRM : SIGPROF; }

/* --- in the child --- */

static void handle(int signal)
{
	(void)signal;
	__atomic_fetch_add(&shared->signals, 1, __ATOMIC_RELEASE);
}

static void set_timer(void)
{
	struct itimerval i = { { 0, shared->once ? 0 : OFTEN }, { 0, SOON } };
	struct itimerspec s = { { 0, i.it_interval.tv_usec * 1000 }, { 0, SOON * 1000 } };
	struct sigevent e = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal_of() };
	timer_t timer;

	if (shared->kind <= VIRTUAL) {
		setitimer(shared->kind == PROF ? ITIMER_PROF : ITIMER_VIRTUAL, &i, NULL);
		return;
	}
	timer_create(shared->kind == OF_PROCESS ? CLOCK_PROCESS_CPUTIME_ID :
		     CLOCK_THREAD_CPUTIME_ID, &e, &timer);
	timer_settime(timer, 0, &s, NULL);
}

static bool waits(void)
{
	sigset_t set;

	sigpending(&set);
	return sigismember(&set, signal_of());
}

static __attribute__((noreturn)) void live(void)
{
	struct sigaction a = { .sa_handler = handle, .sa_flags = SA_RESTART };
	struct epoll_event e = { .events = EPOLLIN };
	int set = epoll_create1(EPOLL_CLOEXEC);
	sigset_t one;
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(signal_of(), &a, NULL);
	sigemptyset(&one);
	sigaddset(&one, signal_of());
	if (shared->blocks)
		sigprocmask(SIG_BLOCK, &one, NULL);
	epoll_ctl(set, EPOLL_CTL_ADD, words[0], &e);
	set_timer();
	while (shared->blocks && !waits())
		;
	__atomic_store_n(&shared->ready, true, __ATOMIC_RELEASE);
	for (;;) {
		if (epoll_wait(set, &e, 1, -1) != 1) {
			__atomic_fetch_add(&shared->ends, 1, __ATOMIC_RELEASE);
			continue;
		}
		if (read(words[0], &c, 1) == 1)
			__atomic_fetch_add(&shared->answers, 1, __ATOMIC_RELEASE);
		while (__atomic_load_n(&shared->works, __ATOMIC_ACQUIRE))
			;
	}
}

/* What it does for us. */
static void burn(void)
{
	for (;;)
		;
}

/* --- here --- */

static int64_t pending(void)
{
	return procfs_status(child, child, "ShdPnd", 16, 0) | procfs_status(child, child, "SigPnd", 16, 0);
}

static bool is_pending(void) { return pending() >> (signal_of() - 1) & 1; }
static bool is_asleep(void)
{
	return __atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE) &&
		procfs_state(child, child) == 'S';
}
static bool has_answered(void)
{
	return __atomic_load_n(&shared->answers, __ATOMIC_ACQUIRE) == shared->asked;
}
static bool goes_off(void)
{
	return __atomic_load_n(&shared->signals, __ATOMIC_ACQUIRE) > !shared->once;
}

static void wait_for(bool (*what)(void))
{
	int i;

	for (i = 0; i < TRIES && !what(); i++)
		usleep(2000);
	MUST(i < TRIES);
}

static void ask(void)
{
	shared->asked++;
	MUST(write(words[1], "", 1) == 1);
	wait_for(has_answered);
}

static int lend(void *unused)
{
	struct thread_hold *th;
	struct target t;
	struct remote r;
	struct gadgets g;

	MUST(target_open(child, &t) == 0);
	MUST(remote_gadgets(&t, (struct range){ 0 }, &g) == 0);
	MUST(target_stop_one(&t, child, STOP, &th) == 0);
	MUST(remote_begin(&t, th, &g, 0, &r) == 0);
	MUST(r.alarms.watched && r.alarms.n == shared->blocks);
	struct regs regs = r.saved;
	regs_call(&regs, (uintptr_t)burn, NULL, 0, r.way, r.gadgets.sigreturn);
	MUST(regs_set(child, &regs) == 0);
	MUST(thread_resume(th, PTRACE_CONT, 0, 0) == -ETIMEDOUT);
	wait_for(is_pending);
	MUST(remote_end(&r) == 0);
	target_release(&t);
	MUST(!t.nthreads);
	target_close(&t);
	return 0;
}

static void end_child(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(words[0]);
	close(words[1]);
}

/* Has it slept on? */
static bool play(enum kind kind, bool once, bool blocks)
{
	bool slept;

	memset(shared, 0, sizeof(*shared));
	shared->kind = kind;
	shared->once = once;
	shared->blocks = blocks;
	MUST(pipe(words) == 0);
	child = fork();
	MUST(child >= 0);
	if (!child)
		live();
	wait_for(is_asleep);
	/* Where all is slow it has worked for so long before it slept. */
	if (once && __atomic_load_n(&shared->signals, __ATOMIC_ACQUIRE)) {
		end_child();
		return false;
	}
	MUST(tracing(lend, NULL) == 0);
	wait_for(is_asleep);
	slept = !__atomic_load_n(&shared->ends, __ATOMIC_ACQUIRE);
	MUST(is_pending() == blocks);
	ask();
	if (!blocks) {
		shared->works = true;
		ask();
		wait_for(goes_off);
	}
	end_child();
	return slept;
}

/* A tick may come as it goes to sleep again, and is its own; but not always. */
static void try(enum kind kind, bool once, bool blocks)
{
	bool slept = false;

	for (int i = 0; i < PLAYS && !slept; i++)
		slept = play(kind, once, blocks);
	MUST(slept);
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(shared != MAP_FAILED);
	must_tell = tell_state;
	for (enum kind kind = 0; kind < KINDS; kind++) {
		try(kind, false, false);
		try(kind, true, false);
		try(kind, false, true);
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A thread that does not stop when it is asked to, for it waits for a child of vfork: is no
 * other stopped beside it, while another is looked for that could be borrowed? And is one found
 * when it has stopped?
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "injector/proc/procfs.h"
#include "injector/ptrace/tracing.h"
#include "injector/remote/loan.h"
#include "tests/unit/check.h"

enum {
	TRIES = 5000,			/* of 2 ms */
	FEW_LOOKS = 10,
	SHORT = 20 * 1000 * 1000,	/* ns */
};

/* What the child shares with us. */
static struct {
	bool has_other, come_back;
} *shared;

static pid_t child;

/* --- in the child --- */

static void *other(void *unused)
{
	__atomic_store_n(&shared->has_other, true, __ATOMIC_RELEASE);
	for (;;)
		nanosleep(&(struct timespec){ 0, 1000 * 1000 }, NULL);
	return unused;
}

/* As vfork, but for the memory: nothing but a kill ends this wait, until it is over. */
static void away(void)
{
	if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0) == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() != 1 && !__atomic_load_n(&shared->come_back, __ATOMIC_ACQUIRE))
			nanosleep(&(struct timespec){ 0, 1000 * 1000 }, NULL);
		_exit(0);
	}
}

static __attribute__((noreturn)) void live(void)
{
	pthread_t t;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_create(&t, NULL, other, NULL);
	away();
	for (;;)
		pause();
}

/* --- here --- */

static bool is_away(void)
{
	return __atomic_load_n(&shared->has_other, __ATOMIC_ACQUIRE) &&
		procfs_state(child, child) == 'D';
}

static int look_for_one(void *unused)
{
	struct modules none = { .pid = child };
	struct thread_hold *th;
	struct gadgets g;
	struct target t;
	struct remote r;

	MUST(target_open(child, &t) == 0);
	MUST(remote_gadgets(&t, (struct range){ 0 }, &g) == 0);
	MUST(target_stop_one(&t, child, SHORT, &th) == -EAGAIN);
	target_release(&t);
	t.longest_loan = 0;
	MUST(loan_borrow(&t, &none, LOAN_SYSCALLS, FEW_LOOKS, &g, &r) == -EAGAIN);
	MUST(t.longest_loan == 0);
	fail_clear();
	__atomic_store_n(&shared->come_back, true, __ATOMIC_RELEASE);
	MUST(loan_borrow(&t, &none, LOAN_SYSCALLS, LOAN_TRIES, &g, &r) == 0);
	MUST(loan_give_back(&r, 0) == 0);
	MUST(t.nthreads == 0);
	target_close(&t);
	return 0;
}

int main(void)
{
	int i;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	child = fork();
	MUST(child >= 0 && shared != MAP_FAILED);
	if (!child)
		live();
	for (i = 0; i < TRIES && !is_away(); i++)
		usleep(2000);
	MUST(i < TRIES);
	int err = tracing(look_for_one, NULL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return err != 0;
}

/* SPDX-License-Identifier: MIT */
/* Is what a signal handler has interrupted found where the main thread has ended, by whose id the
 * process's memory cannot be read any more? */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "injector/proc/procfs.h"
#include "injector/ptrace/sigframes.h"
#include "injector/ptrace/tracing.h"
#include "tests/unit/check.h"

static const uint64_t patience = 20000000000;	/* ns */

enum { TRIES = 5000 };	/* of 2 ms */

static bool *handles;	/* shared */

static void handler(int sig)
{
	(void)sig;
	__atomic_store_n(handles, true, __ATOMIC_RELEASE);
	for (;;)
		pause();
}

static void *interrupted(void *unused)
{
	raise(SIGUSR1);
	return unused;
}

static __attribute__((noreturn)) void live(void)
{
	pthread_t thread;

	if (signal(SIGUSR1, handler) == SIG_ERR ||
	    pthread_create(&thread, NULL, interrupted, NULL))
		_exit(1);
	pthread_exit(NULL);
}

static bool is_alone(pid_t pid)
{
	return __atomic_load_n(handles, __ATOMIC_ACQUIRE) && procfs_state(pid, pid) == 'Z';
}

static int count_frame(void *ctx, const struct sigframe *frame)
{
	(void)frame;
	++*(int *)ctx;
	return 0;
}

struct looking {
	struct target target;
	struct sigframes frames;
	int found, stopped;
};

static int look(void *ctx)
{
	struct looking *l = ctx;
	int err = target_stop(&l->target, patience);

	for (size_t i = 0; i < l->target.nthreads && !err; i++) {
		struct thread_hold *th = &l->target.threads[i];

		if (th->hold != HOLD_STOPPED)
			continue;
		l->stopped++;
		err = sigframes_search(&l->target, &l->frames, th, count_frame, &l->found);
	}
	target_release(&l->target);
	return err;
}

int main(void)
{
	struct looking l = { 0 };

	handles = mmap(NULL, sizeof(*handles), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (handles == MAP_FAILED)
		return 1;
	pid_t pid = fork();
	if (!pid)
		live();
	for (int i = 0; i < TRIES && !is_alone(pid); i++)
		usleep(2000);
	CHECK(is_alone(pid));
	CHECK_EQ(target_open(pid, &l.target), 0);
	CHECK_EQ(sigframes_prepare(&l.target, &l.frames), 0);
	CHECK_EQ(tracing(look, &l), 0);
	CHECK_EQ(l.stopped, 1);
	CHECK_EQ(l.found, 1);
	sigframes_clear(&l.frames);
	target_close(&l.target);
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	return failures != 0;
}

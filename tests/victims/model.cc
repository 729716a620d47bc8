/* SPDX-License-Identifier: MIT */
/*
 * model: a program that knows what it called when. Each call of a model_* function is
 * a line of the file that it is given: PID TID FUNCTION BEGIN END HOW, in ns since 1970,
 * and HOW is return or unwound. The times are taken within the call; of a call that a
 * thread's or a process's end ends, by the program that makes that end.
 *
 *	plain	-> ok plain	calls that return, a signal's handler among them
 *	left	-> ok left	calls that are left by longjmp and by exceptions
 *	thread	-> ok thread	... by the end of their thread, of its own making
 *	fork	-> ok fork	... by _exit in a child of the main thread's, and of another's
 *	kill	-> ok kill	... by SIGKILL
 *	exec	-> ok exec PID	... because their process runs another program, which sleeps
 *	end	-> ok end	... by the end of the whole process
 *	slow	-> ok slow	a call of 0.3 s that makes so many calls that a small ring
 *		has lost its begin by then, within another; they are of mod_step
 *	long	-> ok long	a call within another, which ends when a line comes
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/victims/victim.h"

static int log_fd = -1;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int self(void)
{
	return (int)syscall(SYS_gettid);
}

static void note(int pid, int tid, const char *func, uint64_t began, const char *how)
{
	char line[160];
	int n = snprintf(line, sizeof(line), "%d %d %s %llu %llu %s\n", pid, tid, func,
			 (unsigned long long)began, (unsigned long long)now(), how);

	if (write(log_fd, line, (size_t)n) != n)
		_exit(5);
}

static void done(const char *func, uint64_t began)
{
	note(getpid(), self(), func, began, "return");
}

static void left(const char *func, uint64_t began)
{
	note(getpid(), self(), func, began, "unwound");
}

/* ---- calls that return --------------------------------------------------- */

PROBED void model_inner(long us)
{
	uint64_t began = now();

	victim_sleep_us(us);
	done("model_inner", began);
}

PROBED void model_handler(int)
{
	uint64_t began = now();

	victim_sleep_us(2000);
	done("model_handler", began);
}

PROBED void model_outer(int depth)
{
	uint64_t began = now();

	model_inner(1000);
	if (depth)
		model_outer(depth - 1);
	else
		raise(SIGUSR1);
	model_inner(3000);
	done("model_outer", began);
}

/* ---- calls that are left ------------------------------------------------- */

static sigjmp_buf target;
static uint64_t jumper_began, thrower_began;

PROBED void model_jumper(int depth)
{
	uint64_t began = now();

	if (depth == 1)
		jumper_began = began;
	if (depth)
		model_jumper(depth - 1);
	victim_sleep_us(2000);
	left("model_jumper", began);
	left("model_jumper", jumper_began);
	siglongjmp(target, 1);
}

PROBED void model_catcher(void)
{
	volatile uint64_t began = now();

	if (!sigsetjmp(target, 1))
		model_jumper(1);
	done("model_catcher", began);
}

PROBED void model_thrower(int depth)
{
	uint64_t began = now();

	if (depth == 1)
		thrower_began = began;
	if (depth)
		model_thrower(depth - 1);
	victim_sleep_us(2000);
	left("model_thrower", began);
	left("model_thrower", thrower_began);
	throw depth;
}

PROBED void model_tryer(void)
{
	uint64_t began = now();

	try {
		model_thrower(1);
	} catch (int) {
		victim_count();
	}
	done("model_tryer", began);
}

/* ---- ends ---------------------------------------------------------------- */

static uint64_t worker_began, child_began;

PROBED void model_leaves(void)
{
	uint64_t began = now();

	victim_sleep_us(10000);
	left("model_leaves", began);
	left("model_worker", worker_began);
	syscall(SYS_exit, 0);
	victim_wrong("the thread's end");
}

/* Its thread ends behind the C library's back, so that no other may join it. */
PROBED void model_worker(void)
{
	worker_began = now();
	model_leaves();
	victim_wrong("the worker's end");
}

PROBED void model_quits(void)
{
	uint64_t began = now();

	victim_sleep_us(10000);
	left("model_quits", began);
	left("model_child", child_began);
	_exit(0);
}

PROBED void model_child(void)
{
	child_began = now();
	model_inner(1000);
	model_quits();
	victim_wrong("the child's end");
}

static void *work(void *)
{
	model_worker();
	return NULL;
}

static void wait_for(pid_t child)
{
	if (child < 0 || waitpid(child, NULL, 0) != child)
		victim_wrong("wait for a child");
}

static void fork_one(void)
{
	pid_t child = fork();

	if (!child) {
		model_child();
		_exit(9);
	}
	wait_for(child);
}

static void *fork_there(void *)
{
	fork_one();
	return NULL;
}

static void spawn(void *(*what)(void *), bool joined)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, what, NULL))
		victim_wrong("make a thread");
	else if (joined)
		pthread_join(thread, NULL);
	else
		pthread_detach(thread);
}

/* ---- ends that others make ----------------------------------------------- */

PROBED void model_waits(int fd)
{
	uint64_t began = now();

	if (write(fd, &began, sizeof(began)) == sizeof(began))
		pause();
	_exit(9);
}

static void kill_one(void)
{
	uint64_t began = 0;
	int ends[2];
	pid_t child = pipe(ends) ? -1 : fork();

	if (!child)
		model_waits(ends[1]);
	if (child < 0 || read(ends[0], &began, sizeof(began)) != sizeof(began))
		victim_wrong("hear of a child");
	victim_sleep_us(20000);
	kill(child, SIGKILL);
	wait_for(child);
	note(child, child, "model_waits", began, "unwound");
	close(ends[0]);
	close(ends[1]);
}

PROBED void model_execs(void)
{
	uint64_t began = now();

	victim_sleep_us(10000);
	left("model_execs", began);
	execlp("sleep", "sleep", "2", NULL);
	_exit(9);
}

static pid_t exec_one(void)
{
	pid_t child = fork();

	if (!child)
		model_execs();
	return child;
}

/* ---- calls whose begins are not recorded --------------------------------- */

PROBED void mod_step(void)
{
	victim_count();
}

PROBED void model_slow(void)
{
	uint64_t began = now();

	while (now() - began < 300000000)
		for (int i = 0; i < 100; i++)
			mod_step();
	done("model_slow", began);
}

PROBED void model_lasts(void)
{
	uint64_t began = now();
	char line[8];

	if (!victim_line(line, sizeof(line)))
		_exit(9);
	done("model_lasts", began);
}

PROBED void model_holds(void (*what)(void))
{
	uint64_t began = now();

	what();
	done("model_holds", began);
}

PROBED void model_ends(void)
{
	uint64_t began = now();

	victim_sleep_us(30000);
	left("model_ends", began);
	victim_say("ok end");
	_exit(0);
}

/* -------------------------------------------------------------------------- */

static void command(const char *line)
{
	if (strcmp(line, "plain") == 0) {
		for (int i = 0; i < 3; i++)
			model_outer(2);
	} else if (strcmp(line, "left") == 0) {
		model_catcher();
		model_tryer();
	} else if (strcmp(line, "thread") == 0) {
		spawn(work, false);
		victim_sleep_us(50000);
	} else if (strcmp(line, "fork") == 0) {
		fork_one();
		spawn(fork_there, true);
	} else if (strcmp(line, "kill") == 0) {
		kill_one();
	} else if (strcmp(line, "exec") == 0) {
		victim_say("ok exec %d", exec_one());
		return;
	} else if (strcmp(line, "slow") == 0) {
		model_holds(model_slow);
	} else if (strcmp(line, "long") == 0) {
		model_holds(model_lasts);
	} else if (strcmp(line, "end") == 0) {
		model_ends();
	} else {
		victim_wrong("command");
	}
	victim_say("ok %s", line);
}

int main(int argc, char **argv)
{
	struct sigaction action = { };

	log_fd = open(argc > 1 ? argv[1] : "/dev/null", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
		      0600);
	action.sa_handler = model_handler;
	sigaction(SIGUSR1, &action, NULL);
	victim_say("ready");
	while (victim_poll(10, command))
		victim_count();
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * leaver THREADS FILE STATUS: as soon as FILE is there, each thread that runs does what
 * stands in it, once:
 *
 *	exec	executes this program again, of which the first does it for all
 *	fork	makes a child and waits for it
 *	vfork	the same by posix_spawn
 *	end	ends, but for the main thread
 *	born	starts another thread, which does nothing of that
 *	part	the main thread makes a child by vfork, which lives on in this memory until
 *		FILE is gone; then another thread executes this program again
 *
 * The program that was executed says `again` and does nothing of that. It ends with STATUS
 * if all it saw was right: it has one thread, no signal is blocked or pending, and nothing
 * interrupts its sleeps.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/victims/victim.h"

enum { MOST_MS = 300 * 1000 };	/* that a child outlives its test, at worst */

extern char **environ;
static char **args;
static bool parted;

PROBED uint64_t leave_work(uint64_t x)
{
	return x * x + 41;
}

static void execute(void)
{
	char *again[] = { args[0], args[1], args[2], args[3], (char *)"again", NULL };

	execv("/proc/self/exe", again);
	victim_wrong("execv");
}

static void see_end(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			victim_wrong("waitpid: %s", strerror(errno));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		victim_wrong("a child ended with %#x", (unsigned int)status);
}

static void fork_once(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(leave_work(2) != 45);
	see_end(pid);
}

static void spawn_once(void)
{
	char *const argv[] = { (char *)"true", NULL };
	pid_t pid;

	if (posix_spawnp(&pid, "true", NULL, NULL, argv, environ))
		victim_wrong("posix_spawn");
	else
		see_end(pid);
}

static void *work(void *role);

/* What a thread is given. */
static char is_main[1], is_other[1], is_born[1];

static void bear(void *role)
{
	pthread_t t;

	if (pthread_create(&t, NULL, work, role) || pthread_detach(t))
		victim_wrong("pthread_create");
}

/* Nothing but system calls: whose stack it is may be killed. */
static void part(void)
{
	struct timespec t = { 0, 1000 * 1000 };

	if (vfork() == 0) {
		__atomic_store_n(&parted, true, __ATOMIC_RELEASE);
		for (int i = 0; i < MOST_MS && access(args[2], F_OK) == 0; i++)
			syscall(SYS_nanosleep, &t, NULL);
		_exit(0);
	}
}

static void execute_parted(void)
{
	while (!__atomic_load_n(&parted, __ATOMIC_ACQUIRE))
		victim_sleep_us(1000);
	execute();
}

/* False: there is nothing to do yet. */
static bool act(const void *role)
{
	char what[16] = { 0 };
	int fd = open(args[2], O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, what, sizeof(what) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0 || what[n - 1] != '\n')
		return false;
	if (strcmp(what, "exec\n") == 0)
		execute();
	else if (strcmp(what, "fork\n") == 0)
		fork_once();
	else if (strcmp(what, "vfork\n") == 0)
		spawn_once();
	else if (strcmp(what, "born\n") == 0)
		bear(is_born);
	else if (strcmp(what, "part\n") == 0 && role == is_main)
		part();
	else if (strcmp(what, "part\n") == 0)
		execute_parted();
	else if (role != is_main)
		pthread_exit(NULL);
	return true;
}

static void *work(void *role)
{
	bool acted = role == is_born;

	for (uint64_t x = 0; role == is_main ? victim_poll(1, NULL) : true; x++) {
		if (leave_work(x) != x * x + 41)
			victim_wrong("leave_work");
		victim_sleep_us(1000);
		victim_count();
		acted = acted || act(role);
	}
	return role;
}

static int tasks(void)
{
	char text[4096];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	char *line;

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	line = strstr(text, "\nThreads:\t");
	return line ? atoi(line + 10) : 0;
}

static void check_signals(int (*ask)(sigset_t *), const char *what)
{
	sigset_t set;

	ask(&set);
	for (int i = 1; i < NSIG; i++)
		if (sigismember(&set, i) == 1)
			victim_wrong("signal %d is %s", i, what);
}

static int blocked(sigset_t *set) { return sigprocmask(SIG_BLOCK, NULL, set); }

/* The program that was executed: may nothing be left of an inject that traced the one before. */
static int live_again(void)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct timespec moment = { 0, 1000 * 1000 };
	struct epoll_event none;

	check_signals(blocked, "blocked");
	check_signals(sigpending, "pending");
	if (tasks() != 1)
		victim_wrong("%d threads", tasks());
	victim_say("again");
	for (uint64_t x = 0; victim_poll(1, NULL); x++) {
		if (leave_work(x) != x * x + 41)
			victim_wrong("leave_work");
		if (nanosleep(&moment, NULL) < 0 || epoll_wait(epoll, &none, 1, 1) < 0)
			victim_wrong("a sleep: %s", strerror(errno));
		victim_count();
	}
	return victim_errors ? 1 : atoi(args[3]);
}

int main(int argc, char **argv)
{
	args = argv;
	if (argc > 4)
		return live_again();
	for (int i = 1; i < atoi(argv[1]); i++)
		bear(is_other);
	victim_say("ready");
	work(is_main);
	return victim_errors ? 1 : atoi(argv[3]);
}

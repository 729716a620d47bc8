/* SPDX-License-Identifier: MIT */
/*
 * goner: a thread that has been joined, and is still listed: the kernel tells that a thread has
 * left before it is done with it. It has files of its own to close, and while it does that it
 * gets no processor, for others come before it (SCHED_FIFO): the one that joins it, and a child.
 * The kernel leaves it some time each second: so these are many files, a quarter of a million
 * where as many may be open, and the slower the machine, the longer they take.
 *
 *	leave	-> left LISTED	of so many threads, one dies
 *	rest	-> rested	it has its end
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include "tests/victims/victim.h"

enum { LEAST = 1, MORE = 2, FILES = 250000 };

static int hog[2];
static rlim_t files;

PROBED uint64_t goner_work(uint64_t x)
{
	return x * 31 + 7;
}

static void run_as(int policy, int priority)
{
	if (sched_setscheduler(0, policy, &(struct sched_param){ priority }) && errno != EPERM)
		victim_wrong("sched_setscheduler");
}

static void pin(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		victim_wrong("sched_setaffinity");
}

/* From one byte to the next it runs all the time. */
static void be_hog(void)
{
	char byte;

	close(hog[1]);
	run_as(SCHED_FIFO, LEAST);
	while (fcntl(hog[0], F_SETFL, 0) == 0 && read(hog[0], &byte, 1) == 1) {
		fcntl(hog[0], F_SETFL, O_NONBLOCK);
		while (read(hog[0], &byte, 1) < 0)
			;
	}
	_exit(0);
}

static void turn_hog(void)
{
	if (write(hog[1], "", 1) != 1)
		victim_wrong("the hog is gone");
}

static void *leave(void *arg)
{
	if (unshare(CLONE_FILES))
		victim_wrong("unshare");
	for (rlim_t i = 16; i < files; i++)
		if (dup(STDIN_FILENO) < 0)
			victim_wrong("dup");
	run_as(SCHED_OTHER, 0);
	return arg;
}

static void open_many(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l))
		victim_wrong("getrlimit");
	files = l.rlim_max < FILES ? l.rlim_max : FILES;
	l.rlim_cur = files;
	if (setrlimit(RLIMIT_NOFILE, &l))
		victim_wrong("setrlimit");
}

static int listed(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = 0;

	for (struct dirent *e; d && (e = readdir(d)); n += e->d_name[0] != '.')
		;
	if (d)
		closedir(d);
	return n;
}

static void on_command(const char *command)
{
	pthread_t t;

	if (strcmp(command, "rest") == 0) {
		turn_hog();
		for (int i = 0; i < 1000 && listed() > 1; i++)
			victim_sleep_us(10000);
		victim_say("rested");
		return;
	}
	if (pthread_create(&t, NULL, leave, NULL) || pthread_join(t, NULL))
		victim_wrong("no thread");
	turn_hog();
	victim_say("left %d", listed());
}

int main(void)
{
	uint64_t x = 3;

	open_many();
	pin();
	if (pipe(hog) < 0)
		return 1;
	switch (fork()) {
	case -1:
		return 1;
	case 0:
		be_hog();
	}
	close(hog[0]);
	run_as(SCHED_FIFO, MORE);
	victim_say("ready");
	while (victim_poll(10, on_command)) {
		for (int i = 0; i < 1000; i++)
			x = goner_work(x);
		victim_count();
	}
	return victim_errors != 0;
}

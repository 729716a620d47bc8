/* SPDX-License-Identifier: MIT */
/*
 * leaderless [locks]: its main thread ends when it is told to, and the others go on.
 * The process then looks like a zombie, whose memory, root and executable are
 * only to be had by way of another thread.
 *
 *	leave	-> left TID	the main thread has ended; TID is another
 *
 * "locks": all its memory to come is locked (mlockall).
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "tests/victims/victim.h"

static pthread_t leader;

PROBED uint64_t orphan_work(uint64_t x)
{
	return x * 23 + 1;
}

static void *work(void *arg)
{
	for (uint64_t x = 1;; x++) {
		if (orphan_work(x) != x * 23 + 1)
			victim_wrong("orphan_work");
		victim_count();
		victim_sleep_us(1000);
	}
	return arg;
}

static bool is_zombie(pid_t pid)
{
	char path[64], line[512] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f || !fgets(line, sizeof(line), f))
		victim_wrong("read %s", path);
	if (f)
		fclose(f);
	return strstr(line, ") Z ");
}

static void command(const char *word)
{
	if (strcmp(word, "leave") == 0) {
		pthread_cancel(leader);
		while (!is_zombie(getpid()))
			victim_sleep_us(1000);
		victim_say("left %ld", syscall(SYS_gettid));
	} else {
		victim_say("what is %s?", word);
	}
}

static void *obey(void *arg)
{
	while (victim_poll(1000, command))
		;
	exit(victim_errors != 0);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1 && mlockall(MCL_FUTURE))
		victim_wrong("mlockall: %s", strerror(errno));

	leader = pthread_self();
	if (pthread_create(&t, NULL, work, NULL) || pthread_create(&t, NULL, obey, NULL))
		return 1;
	victim_say("ready");
	for (;;)
		pause();
}

/* SPDX-License-Identifier: MIT */
/*
 * slow_ender: a thread that is not the program's own takes its time to end. Is
 * the code that it began in still there when it does?
 *
 * Whatever a foreign thread loads, it allocates memory; from then on it has a
 * destructor to run when it ends.
 */
#include <pthread.h>

#include "tests/victims/victim.h"

enum { LOOKS = 100, LOOK_US = 2000 };	/* as long as it takes to end */

void *__libc_malloc(size_t size);	/* glibc's, behind malloc() */

static pthread_key_t ending;
static bool has_key;
static __thread bool own;

PROBED uint64_t end_leaf(uint64_t x)
{
	return x * 6364136223846793005u + 1442695040888963407u;
}

PROBED uint64_t end_frame(uint64_t x)
{
	return end_leaf(x) + end_leaf(x + 1);
}

void *malloc(size_t size)
{
	if (has_key && !own)
		pthread_setspecific(ending, &ending);
	return __libc_malloc(size);
}

/* The code that no file holds, among what is mapped now; the n-th such piece. */
static bool unnamed_code(unsigned int n, uint64_t *start, uint64_t *end)
{
	char line[512], perms[8];
	unsigned long long from, to, inode;
	FILE *f = fopen("/proc/self/maps", "re");
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx-%llx %7s %*x %*x:%*x %llu", &from, &to, perms, &inode) == 4
		    && perms[2] == 'x' && inode == 0 && !strchr(line, '[') && n-- == 0)
			found = true;
	if (f)
		fclose(f);
	*start = found ? from : 0;
	*end = found ? to : 0;
	return found;
}

static bool is_unnamed_code(uint64_t addr)
{
	uint64_t start, end;

	for (unsigned int n = 0; unnamed_code(n, &start, &end); n++)
		if (addr >= start && addr < end)
			return true;
	return false;
}

/* Where this thread began: glibc keeps it in the thread's descriptor. */
static uint64_t thread_began(void)
{
	const uint64_t *words = (const uint64_t *)pthread_self();
	uint64_t start, end;

	for (unsigned int n = 0; unnamed_code(n, &start, &end); n++)
		for (int i = 0; i < 256; i++)
			if (words[i] >= start && words[i] < end)
				return words[i];
	return 0;
}

static void on_end(void *unused)
{
	uint64_t began = thread_began();

	(void)unused;
	if (!began)
		victim_wrong("a foreign thread began in no code that is known");
	for (int i = 0; began && i < LOOKS; i++) {
		if (!is_unnamed_code(began)) {
			victim_wrong("the code of a thread went before it");
			return;
		}
		victim_sleep_us(LOOK_US);
	}
}

static void *run(void *arg)
{
	uint64_t x = 1;

	own = true;
	for (;;) {
		x = end_frame(x);
		victim_count();
		victim_sleep_us(500);
	}
	return arg;
}

int main(void)
{
	pthread_t t;

	own = true;
	has_key = pthread_key_create(&ending, on_end) == 0;
	if (!has_key || pthread_create(&t, NULL, run, NULL))
		return 1;
	victim_say("ready");
	while (victim_poll(1000, NULL))
		;
	return victim_errors != 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * mappings: as many mappings as it is told, each of one page: no two that lie side by
 * side allow the same, or the kernel would make one of them. And as many threads besides,
 * which wait.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "tests/victims/victim.h"

PROBED uint64_t mappings_work(uint64_t x)
{
	return x * 1103515245 + 12345;
}

static bool map(size_t n)
{
	size_t page = (size_t)getpagesize();
	char *at = mmap(NULL, n * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return false;
	for (size_t i = 0; i < n; i += 2)
		if (mprotect(at + i * page, page, PROT_READ) < 0)
			return false;
	return true;
}

static void *wait_on(void *unused)
{
	for (;;)
		pause();
	return unused;
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	int threads = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t unused;

	if (n && !map(n)) {
		victim_say("no room for %zu mappings: %s", n, strerror(errno));
		return 3;
	}
	while (threads--)
		if (pthread_create(&unused, NULL, wait_on, NULL))
			return 4;
	victim_say("ready");
	for (uint64_t x = 1; victim_poll(1, NULL); x++) {
		if (mappings_work(x) != x * 1103515245 + 12345)
			victim_wrong("mappings_work");
		victim_count();
	}
	return victim_errors != 0;
}

/* SPDX-License-Identifier: MIT */
/* malloc_hot: threads that are inside malloc nearly always, where a hijacked
 * thread that allocated would deadlock with itself. Is every block intact? */
#include <pthread.h>

#include "tests/victims/victim.h"

PROBED void *hot_get(size_t size, int fill)
{
	void *p = malloc(size);

	if (p)
		memset(p, fill, size);
	return p;
}

PROBED int hot_put(unsigned char *p, size_t size, int fill)
{
	int good = p[0] == fill && p[size - 1] == fill;

	free(p);
	return good;
}

static void *hot_run(void *arg)
{
	unsigned char *held[16] = { NULL };
	size_t size[16] = { 0 };

	for (unsigned i = 1;; i++) {
		unsigned k = i * 7 % 16;

		if (held[k] && !hot_put(held[k], size[k], k))
			victim_wrong("a block of %zu bytes changed", size[k]);
		size[k] = 1 + i * 2654435761u % (i % 64 ? 900 : 200000);
		held[k] = hot_get(size[k], k);
		victim_count();
	}
	return arg;
}

int main(void)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, hot_run, NULL))
			return 1;
	victim_say("ready");
	while (victim_poll(1000, NULL))
		;
	return victim_errors != 0;
}

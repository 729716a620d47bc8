/* SPDX-License-Identifier: MIT */
/* stdio_hot: threads inside stdio nearly always, with its locks held, and
 * opening and closing streams, which takes the list's lock. Does each number
 * read back as it was written? */
#include <pthread.h>

#include "tests/victims/victim.h"

static FILE *sink;	/* shared: its lock is contended */

PROBED int hot_print(char *buf, size_t size, unsigned n)
{
	FILE *f = fmemopen(buf, size, "w");

	if (!f)
		return -1;
	fprintf(f, "%u %s", n, "end");
	fclose(f);
	return fprintf(sink, "%u\n", n);
}

static void *hot_run(void *arg)
{
	char buf[64], word[8];
	unsigned got;

	for (unsigned n = 1;; n++) {
		if (hot_print(buf, sizeof(buf), n) < 2 ||
		    sscanf(buf, "%u %7s", &got, word) != 2 || got != n)
			victim_wrong("printed %u, read %s", n, buf);
		victim_count();
	}
	return arg;
}

int main(void)
{
	pthread_t t[4];

	sink = fopen("/dev/null", "w");
	if (!sink)
		return 1;
	for (int i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, hot_run, NULL))
			return 1;
	victim_say("ready");
	while (victim_poll(1000, NULL))
		;
	return victim_errors != 0;
}

/* SPDX-License-Identifier: MIT */
/* pthread_ends: threads that end by pthread_exit and by pthread_cancel, both
 * inside of probed frames. Do their cleanup handlers run? */
#include <pthread.h>

#include "tests/victims/victim.h"

/* Always 1, which the compiler does not know: so the functions have exits. */
static volatile int leave = 1;

static void cleanup(void *arg)
{
	__atomic_fetch_add((int *)arg, 1, __ATOMIC_RELAXED);
}

PROBED int end_leave(int depth)
{
	int below;

	if (depth == 0 && leave)
		pthread_exit((void *)77);
	if (depth == 0)
		return 0;
	below = end_leave(depth - 1);
	return below + 1;
}

PROBED int end_wait(int depth)
{
	int below = 0;

	while (depth == 0 && leave)
		pause();
	if (depth == 0)
		return 0;
	below = end_wait(depth - 1);
	return below + 1;
}

static void *end_by_exit(void *cleaned)
{
	pthread_cleanup_push(cleanup, cleaned);
	end_leave(5);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *end_by_cancel(void *cleaned)
{
	pthread_cleanup_push(cleanup, cleaned);
	end_wait(5);
	pthread_cleanup_pop(0);
	return NULL;
}

static bool round_trip(void)
{
	int cleaned = 0;
	pthread_t a, b;
	void *ra, *rb;

	if (pthread_create(&a, NULL, end_by_exit, &cleaned) ||
	    pthread_create(&b, NULL, end_by_cancel, &cleaned))
		return false;
	victim_sleep_us(1000);
	pthread_cancel(b);
	pthread_join(a, &ra);
	pthread_join(b, &rb);
	return ra == (void *)77 && rb == PTHREAD_CANCELED && cleaned == 2;
}

int main(void)
{
	victim_say("ready");
	while (victim_poll(1, NULL)) {
		if (!round_trip())
			victim_wrong("a thread did not end as it should");
		victim_count();
	}
	return victim_errors != 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * throwers: do exceptions cross probed frames, and does backtrace() see what
 * it saw without probes? Every return address must be the program's own.
 *
 * Command "throw N" -> threw N destroyed N in N ms: through four frames each.
 */
#include <execinfo.h>
#include <pthread.h>
#include <stdexcept>
#include <string>

#include "tests/victims/victim.h"

namespace throwers {

static __thread int destroyed;

struct Guard {
	~Guard() { destroyed++; }
};

PROBED int leap(int depth)
{
	Guard g;

	if (depth == 0)
		throw std::runtime_error("leap");
	return leap(depth - 1) + 1;
}

PROBED int rethrow(int depth)
{
	try {
		return leap(depth);
	} catch (const std::runtime_error &e) {
		if (std::string(e.what()) != "leap")
			victim_wrong("what()");
		throw std::logic_error("again");
	}
}

PROBED int catcher(int depth)
{
	try {
		return rethrow(depth);
	} catch (const std::logic_error &) {
		return -1;
	}
}

PROBED int trace_inner(void **pc, int n)
{
	int got = backtrace(pc, n);

	/* Not a tail call: this frame is to be in the trace. */
	asm volatile("" ::: "memory");
	return got;
}

PROBED int trace_outer(void **pc, int n)
{
	int got = trace_inner(pc, n);

	asm volatile("" ::: "memory");
	return got;
}

} // namespace throwers

/* pc[0] is inside trace_inner: its window may be moved into a stub,
 * all others are return addresses and must not change at all. */
PROBED void once(void **first, int *n)
{
	void *pc[32];
	int got = throwers::trace_outer(pc, 32), k = 1;

	if (*n == 0) {
		memcpy(first, pc, sizeof(pc));
		*n = got;
	} else if (got != *n || memcmp(pc + 1, first + 1, (got - 1) * sizeof(*pc))) {
		while (k < got - 1 && pc[k] == first[k])
			k++;
		victim_wrong("backtrace: %d frames, were %d; %p, was %p", got, *n, pc[k],
			     first[k]);
	}
	throwers::destroyed = 0;
	if (throwers::catcher(10) != -1)
		victim_wrong("catcher");
	if (throwers::destroyed != 11)
		victim_wrong("destructors: %d", throwers::destroyed);
}

static void *run(void *arg)
{
	void *first[32];
	int n = 0;

	for (;;) {
		once(first, &n);
		victim_count();
		victim_sleep_us(200);
	}
	return arg;
}

static void command(const char *line)
{
	struct timespec a, b;
	int n = 0;

	if (strncmp(line, "throw ", 6) != 0) {
		victim_say("what is %s?", line);
		return;
	}
	throwers::destroyed = 0;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	for (int i = atoi(line + 6); i > 0; i--)
		try {
			n += throwers::leap(3);
		} catch (const std::runtime_error &) {
			n++;
		}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	victim_say("threw %d destroyed %d in %ld ms", n, throwers::destroyed,
		   (b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000);
}

int main()
{
	pthread_t t[3];

	for (auto &thread : t)
		if (pthread_create(&thread, nullptr, run, nullptr))
			return 1;
	victim_say("ready");
	while (victim_poll(1000, command))
		;
	return victim_errors != 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * hooked [N]: N threads in code that a compiler has prepared for a tracer, with
 * the program's own hooks. Does all go on that the compiler has arranged?
 *
 *	run N	-> ran N entered E left L	N rounds; what hooks have seen
 *	on, off	-> ok			XRay's own patching, as threads run
 *	toggle N -> ok			both, N times
 *	storm	-> ok			both in a thread, at random, until "calm"
 *	calm	-> calm after N		so often
 *
 * Built with -DHOOKED_CALLS, the hooks are those of -finstrument-functions;
 * with -DHOOKED_XRAY, XRay's handler. A program that was built with -pg counts
 * for itself, into gmon.out.
 */
#include <pthread.h>

#include "tests/victims/victim.h"

#ifdef HOOKED_XRAY
#define UNSEEN __attribute__((xray_never_instrument))
#define EVENT(x) __xray_customevent((const char *)&(x), sizeof(x))
#else
#define EVENT(x) ((void)(x))
#define UNSEEN __attribute__((no_instrument_function))
#endif

static uint64_t entered, left;
static bool quit;

UNSEEN __attribute__((unused)) static inline void see(uint64_t *what)
{
	__atomic_fetch_add(what, 1, __ATOMIC_RELAXED);
}

#ifdef HOOKED_CALLS
UNSEEN void __cyg_profile_func_enter(void *func, void *caller);
UNSEEN void __cyg_profile_func_exit(void *func, void *caller);

void __cyg_profile_func_enter(void *func, void *caller)
{
	see(&entered);
}

void __cyg_profile_func_exit(void *func, void *caller)
{
	see(&left);
}
#endif

#ifdef HOOKED_XRAY
/* XRay's own header is C++. */
enum { XRAY_ENTRY = 0, XRAY_SUCCESS = 1 };
int __xray_set_handler(void (*handler)(int32_t id, int type));
int __xray_patch(void);
int __xray_unpatch(void);

UNSEEN static void handler(int32_t id, int type)
{
	see(type == XRAY_ENTRY ? &entered : &left);
}

UNSEEN static void patch(bool on)
{
	__xray_set_handler(handler);
	if ((on ? __xray_patch() : __xray_unpatch()) != XRAY_SUCCESS)
		victim_wrong("XRay cannot patch");
}
#else
UNSEEN static void patch(bool on)
{
}
#endif

PROBED uint64_t hook_leaf(uint64_t x)
{
	return x * 3 + 1;
}

PROBED uint64_t hook_branch(uint64_t x)
{
	if (x & 1)
		return hook_leaf(x) + 2;
	if (x & 2)
		return x / 2;
	return hook_leaf(x + 1) ^ x;
}

PROBED uint64_t hook_frame(uint64_t x)
{
	volatile uint64_t v[16];

	for (int i = 0; i < 16; i++)
		v[i] = x + i;
	return v[x % 16] + hook_branch(x);
}

PROBED uint64_t hook_tail(uint64_t x)
{
	return hook_leaf(x ^ 5);
}

/* Its return is jumped to, and fallen into. */
PROBED uint64_t hook_join(uint64_t x)
{
	if (x & 3) {
		x += 2;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

PROBED void hook_set(uint64_t *x)
{
	*x = *x * 3 + 1;
}

static void (*volatile setter)(uint64_t *) = hook_set;

/* The other jump has six bytes, so that a nop aligns the return, and is jumped to. */
PROBED void hook_early(uint64_t *x)
{
	if (x)
		setter(x);
}

/* XRay has a sled for each event, too. */
PROBED uint64_t hook_event(uint64_t x)
{
	if (x & 2)
		EVENT(x);
	EVENT(x);
	__asm__ volatile("" : "+r"(x));
	return x * 5 + 100000;
}

UNSEEN static uint64_t plain_branch(uint64_t x)
{
	return x & 1 ? x * 3 + 3 : x & 2 ? x / 2 : ((x + 1) * 3 + 1) ^ x;
}

UNSEEN static void round_of(uint64_t x)
{
	uint64_t set = x;

	if (hook_frame(x) != x + x % 16 + plain_branch(x))
		victim_wrong("hook_frame");
	if (hook_tail(x) != (x ^ 5) * 3 + 1)
		victim_wrong("hook_tail");
	if (hook_join(x) != x + (x & 3 ? 2 : 0))
		victim_wrong("hook_join");
	hook_early(x & 1 ? &set : NULL);
	if (set != (x & 1 ? x * 3 + 1 : x))
		victim_wrong("hook_early");
	if (hook_event(x) != x * 5 + 100000)
		victim_wrong("hook_event");
}

UNSEEN static void *spin(void *arg)
{
	for (uint64_t x = (uintptr_t)arg; !__atomic_load_n(&quit, __ATOMIC_RELAXED); x++) {
		round_of(x);
		victim_count();
	}
	return NULL;
}

UNSEEN static void run(uint64_t n)
{
	uint64_t e = entered, l = left;

	for (uint64_t x = 0; x < n; x++)
		round_of(x);
	victim_say("ran %llu entered %llu left %llu", (unsigned long long)n,
		   (unsigned long long)(entered - e), (unsigned long long)(left - l));
}

static pthread_t stormer;
static bool calm;
static uint64_t nturns;

UNSEEN static void *turn(void *arg)
{
	unsigned int seed = 1;

	for (nturns = 0; !__atomic_load_n(&calm, __ATOMIC_RELAXED); nturns++) {
		patch(nturns % 2 == 0);
		usleep((useconds_t)rand_r(&seed) % 1000);
	}
	patch(false);
	return NULL;
}

UNSEEN static void storm(bool on)
{
	__atomic_store_n(&calm, !on, __ATOMIC_RELAXED);
	if (on && pthread_create(&stormer, NULL, turn, NULL))
		exit(1);
	if (on) {
		victim_say("ok storm");
		return;
	}
	pthread_join(stormer, NULL);
	victim_say("calm after %llu", (unsigned long long)nturns);
}

UNSEEN static void command(const char *line)
{
	uint64_t n;

	if (strcmp(line, "storm") == 0 || strcmp(line, "calm") == 0) {
		storm(line[0] == 's');
		return;
	}

	if (sscanf(line, "run %lu", &n) == 1) {
		run(n);
		return;
	}
	if (sscanf(line, "toggle %lu", &n) == 1) {
		for (uint64_t i = 0; i < 2 * n; i++)
			patch(i % 2 == 0);
	} else {
		patch(strcmp(line, "on") == 0);
	}
	victim_say("ok %s", line);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t t[16];

	if (n < 0 || n > 16)
		return 2;
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, spin, (void *)(uintptr_t)(i * 1000)))
			return 1;
	victim_say("ready");
	while (victim_poll(n ? 1000 : 1, command))
		if (!n)
			victim_count();
	__atomic_store_n(&quit, true, __ATOMIC_RELAXED);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return victim_errors != 0;
}

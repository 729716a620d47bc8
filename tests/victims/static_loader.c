/* SPDX-License-Identifier: MIT */
/*
 * static_loader: a program without a dynamic loader that loads libraries all the same,
 * as those do that look up users by name: its C library has a loader in it, and the
 * libraries bring a second C library.
 *
 *	load -> loaded, or why not
 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>

#include "tests/victims/victim.h"

typedef double cosine(double);
static cosine *loaded;

PROBED uint64_t lone_work(uint64_t x)
{
	return x * x + 17;
}

static void load(void)
{
	void *lib = dlopen("libm.so.6", RTLD_NOW);

	if (lib)
		__atomic_store_n(&loaded, (cosine *)dlsym(lib, "cos"), __ATOMIC_RELEASE);
	victim_say("%s", lib ? "loaded" : dlerror());
}

static void command(const char *word)
{
	if (strcmp(word, "load") == 0)
		load();
	else
		victim_say("what is %s?", word);
}

static void *work(void *arg)
{
	for (uint64_t x = (uintptr_t)arg;; x++) {
		cosine *f = __atomic_load_n(&loaded, __ATOMIC_ACQUIRE);

		if (lone_work(x) != x * x + 17)
			victim_wrong("lone_work");
		if (f && f(0.0) != 1.0)
			victim_wrong("cos");
		victim_count();
		victim_sleep_us(100);
	}
	return NULL;
}

int main(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, work, (void *)3))
		return 1;
	victim_say("ready");
	while (victim_poll(50, command))
		victim_count();
	return victim_errors != 0;
}

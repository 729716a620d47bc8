/* SPDX-License-Identifier: MIT */
/*
 * arm64_guarded: calls by pointers the functions of guarded.so, which lies beside it, and whose
 * pages the processor guards: control that comes by a register to anything but a landing pad
 * ends the program. Does it live, and is each result right?
 */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>

#include "tests/victims/victim.h"

typedef uint64_t (*one)(uint64_t);

static one volatile least, any, plain, sixteen, by_single;
static uint64_t (*volatile by_switch)(uint64_t, uint64_t);
static uint64_t (*volatile calls)(one, uint64_t), (*volatile tail)(one, uint64_t);

static void *find(void *lib, const char *name)
{
	void *ret = dlsym(lib, name);

	if (!ret)
		_exit(3);
	return ret;
}

static bool load(const char *program)
{
	char path[PATH_MAX], copy[PATH_MAX];
	void *lib;

	snprintf(copy, sizeof(copy), "%s", program);
	snprintf(path, sizeof(path), "%s/guarded.so", dirname(copy));
	lib = dlopen(path, RTLD_NOW);
	if (!lib)
		return false;
	least = (one)find(lib, "guard_least");
	any = (one)find(lib, "guard_any");
	plain = (one)find(lib, "guard_plain");
	sixteen = (one)find(lib, "guard_sixteen");
	by_single = (one)find(lib, "guard_by_single");
	by_switch = (uint64_t (*)(uint64_t, uint64_t))find(lib, "guard_switch");
	calls = (uint64_t (*)(one, uint64_t))find(lib, "guard_calls");
	tail = (uint64_t (*)(one, uint64_t))find(lib, "guard_tail");
	return true;
}

static void *run(void *arg)
{
	for (uint64_t x = 1;; x++) {
		const uint64_t want[] = { x + 3, x * 5, x - 9, x ^ 77, x << 2, x / 3, ~x, x / 2,
			x + 30, x * 7, x - 90, x ^ 55, x << 3, x / 5, -x, x / 4, x + 31 };

		if (least(x) != x || any(x) != x + 5 || plain(x) != 2 * x + 1 ||
		    sixteen(x) != 2 * x + 1 || by_single(x) != 2 * x + 1)
			victim_wrong("a value");
		if (by_switch(x, x % 17) != want[x % 17])
			victim_wrong("guard_switch");
		if (calls(plain, x) != 2 * x + 2 || tail(any, x) != x + 5)
			victim_wrong("guard_calls");
		victim_count();
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[2];

	if (!load(argv[0]))
		return 1;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, run, NULL))
			return 1;
	victim_say("ready");
	while (victim_poll(1000, NULL))
		;
	return victim_errors != 0;
}

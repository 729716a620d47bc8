/* SPDX-License-Identifier: MIT */
/* dlopen_hot: threads inside the dynamic loader nearly always, with its locks
 * held: they load plugin.so (beside this program), call it, unload it. */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>

#include "tests/victims/victim.h"

static char plugin[PATH_MAX + 16];

PROBED int hot_load(int x)
{
	void *lib = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
	int (*answer)(int) = NULL;
	int got;

	if (lib)
		*(void **)&answer = dlsym(lib, "plugin_answer");
	if (!answer)
		return -1;
	got = answer(x);
	dlclose(lib);
	return got;
}

static void *hot_run(void *arg)
{
	for (int x = 1;; x = (x + 1) % 1000000) {
		if (hot_load(x) != 3 * x + 7)
			victim_wrong("plugin_answer(%d)", x);
		victim_count();
		if (x % 8 == 0)
			victim_sleep_us(100);
	}
	return arg;
}

int main(void)
{
	char exe[PATH_MAX] = "";
	pthread_t t[3];

	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0)
		return 1;
	snprintf(plugin, sizeof(plugin), "%s/plugin.so", dirname(exe));
	for (int i = 0; i < 3; i++)
		if (pthread_create(&t[i], NULL, hot_run, NULL))
			return 1;
	victim_say("ready");
	while (victim_poll(1000, NULL))
		;
	return victim_errors != 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * replugger: calls ./plugin.so all the time. When told to, it unloads it and
 * loads what is there by then, which the dynamic loader mostly puts at the same
 * address: code that was probed is gone, and other code stands in its place.
 *
 *	load WHICH	-> loaded ADDRESS	WHICH: plugin or other; what it
 *						is to answer from now on
 *	hold		loads it again, and calls what returns when a byte
 *			comes	-> held BYTE
 */
#include <dlfcn.h>

#include "tests/victims/victim.h"

static void *lib;
static int (*answer)(int);
static bool other;

static bool load(void)
{
	lib = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
	answer = NULL;
	if (lib)
		*(void **)&answer = dlsym(lib, "plugin_answer");
	return answer;
}

PROBED int replug_around(void)
{
	int (*held)(int) = NULL, c;

	dlclose(lib);
	if (load())
		*(void **)&held = dlsym(lib, "held_call");
	c = held ? held(STDIN_FILENO) : -1;
	asm volatile("" : "+r"(c));	/* no tail call */
	return c;
}

static void command(const char *line)
{
	if (strcmp(line, "hold") == 0) {
		victim_say("held %c", replug_around());
		return;
	}
	if (strncmp(line, "load ", 5) != 0) {
		victim_say("what is %s?", line);
		return;
	}
	dlclose(lib);
	other = strcmp(line + 5, "other") == 0;
	if (!load())
		_exit(3);
	victim_say("loaded %p", (void *)(uintptr_t)answer);
}

int main(void)
{
	if (!load())
		return 1;
	victim_say("ready");
	for (int x = 0; victim_poll(2, command); x++) {
		int want = other ? (x ^ 0x55) - (x >> 3) : 3 * x + 7;

		if (answer(x) != want)
			victim_wrong("plugin_answer(%d)", x);
		victim_count();
	}
	return victim_errors != 0;
}

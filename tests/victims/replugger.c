/* SPDX-License-Identifier: MIT */
/*
 * replugger: calls ./plugin.so all the time. When told to, it unloads it and
 * loads what is there by then, which the dynamic loader puts at the same
 * address: code that was probed is gone, and other code stands in its place.
 *
 *	load WHICH	-> loaded ADDRESS	WHICH: plugin or other; what it
 *						is to answer from now on
 *	hold		loads it again, and calls what returns when a byte
 *			comes	-> held BYTE
 *	asked		-> asked N: the semaphore of its place, if it has one
 */
#include <dlfcn.h>
#include <sys/mman.h>

#include "tests/victims/victim.h"

static void *lib;
static int (*answer)(int);
static bool other;

/* Room for the library, and what is around it is kept meanwhile: a loader that aligns it by more
 * than a page looks for more room than the one has left that is gone. */
enum { ROOM = 1 << 20, LEAST_PAGE = 4096 };
static char *room;
static bool kept[ROOM / LEAST_PAGE];

static void leave_room(size_t page)
{
	for (size_t i = 0; i < ROOM / page; i++) {
		if (kept[i])
			munmap(room + i * page, page);
		kept[i] = false;
	}
}

static void keep_room(size_t page)
{
	const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;

	for (size_t i = 0; i < ROOM / page; i++)
		kept[i] = mmap(room + i * page, page, PROT_NONE, how, -1, 0) != MAP_FAILED;
}

static bool load(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!room) {
		room = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (room == MAP_FAILED)
			return false;
		munmap(room, ROOM);
	}
	leave_room(page);
	lib = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
	keep_room(page);
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

static void say_asked(void)
{
	int (*asked)(void);

	*(void **)&asked = dlsym(lib, "plugin_asked");
	victim_say("asked %d", asked ? asked() : -1);
}

static void command(const char *line)
{
	if (strcmp(line, "asked") == 0) {
		say_asked();
		return;
	}
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

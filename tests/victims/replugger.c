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
 *	away		unloads it, and has memory of its own there	-> away
 *	move		copies its code to memory of its own, as for huge pages, which takes
 *			the place of the file's	-> moved ADDRESS
 *	twin		loads it a second time, apart from the first	-> twin
 *	fork		-> child PID, which goes on calling it
 *	orphan		-> child PID, which does so for some minutes, also without its parent
 */
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tests/victims/victim.h"

static void *lib;
static int (*answer)(int);
static bool other;

/* Room for the library, and what is around it is kept meanwhile: a loader that aligns it by more
 * than a page looks for more room than the one has left that is gone. */
enum { ROOM = 1 << 20, LEAST_PAGE = 4096 };
static char *room;
static bool kept[ROOM / LEAST_PAGE];

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

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
	size_t page = page_size();

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

/* Memory of ours in the place of the page that has the code, with the same bytes or none. */
static void take_page(bool same)
{
	size_t page = page_size();
	char *at = (char *)((uintptr_t)answer & ~(page - 1));
	char *new = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (same)
		memcpy(new, at, page);
	else
		dlclose(lib);
	if (same)
		mprotect(new, page, PROT_READ | PROT_EXEC);
	else
		munmap(at, page);
	if (mremap(new, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, at) != at)
		_exit(4);
	if (!same)
		lib = answer = NULL;
}

static const char *load_twin(void)
{
	void *(*apart)(long, const char *, int);

	*(void **)&apart = dlsym(RTLD_DEFAULT, "dlmopen");
	return apart && apart(-1, "./plugin.so", RTLD_NOW) ? "twin" : "no twin";
}

static pid_t child_begins(bool alone)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (!alone)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int x = 0; answer(x) == (other ? (x ^ 0x55) - (x >> 3) : 3 * x + 7); x++) {
		victim_sleep_us(1000);
		if (alone && x == 200000)
			_exit(0);
	}
	_exit(9);
}

static bool is_about_memory(const char *line)
{
	if (strcmp(line, "move") == 0) {
		take_page(true);
		victim_say("moved %p", (void *)(uintptr_t)answer);
	} else if (strcmp(line, "away") == 0) {
		take_page(false);
		victim_say("away");
	} else if (strcmp(line, "twin") == 0) {
		victim_say("%s", load_twin());
	} else if (strcmp(line, "fork") == 0) {
		victim_say("child %d", child_begins(false));
	} else if (strcmp(line, "orphan") == 0) {
		victim_say("child %d", child_begins(true));
	} else {
		return false;
	}
	return true;
}

static void command(const char *line)
{
	if (is_about_memory(line))
		return;
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
	if (lib)
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

		if (answer && answer(x) != want)
			victim_wrong("plugin_answer(%d)", x);
		victim_count();
	}
	return victim_errors != 0;
}

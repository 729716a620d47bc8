/* SPDX-License-Identifier: MIT */
/*
 * goner: a thread that has been joined, and is still listed: the kernel tells that a thread has
 * left before it is done with it. It has a pipe of its own to close, and waits for the pipe's lock:
 * a child that writes to the pipe has it, from a page that there is only when it has been asked
 * for (userfaultfd). So the thread is listed until then, however fast the machine is.
 *
 *	leave	-> left LISTED	of so many threads, one dies
 *	rest	-> rested	it has its end
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "tests/victims/victim.h"

/* The pipe; and what the child is asked for, and answers. */
static int closed[2], asked[2], answered[2];
static int faults;
static void *page;

PROBED uint64_t goner_work(uint64_t x)
{
	return x * 31 + 7;
}

static bool missing_page(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	size_t size = sysconf(_SC_PAGESIZE);

	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_register all = { { (uintptr_t)page, size }, UFFDIO_REGISTER_MODE_MISSING, 0 };

	return page != MAP_FAILED && faults >= 0 && !ioctl(faults, UFFDIO_API, &api) &&
		!ioctl(faults, UFFDIO_REGISTER, &all);
}

static void *write_page(void *arg)
{
	return (void *)write(closed[1], page, 1);
}

/* It has the pipe's lock from one byte to the next. */
static void hold(void)
{
	size_t size = sysconf(_SC_PAGESIZE);
	struct uffdio_zeropage there = { { (uintptr_t)page, size }, 0, 0 };
	struct uffd_msg fault;
	pthread_t t;
	char byte;

	if (madvise(page, size, MADV_DONTNEED) || pthread_create(&t, NULL, write_page, NULL) ||
	    read(faults, &fault, sizeof(fault)) != sizeof(fault) ||
	    write(answered[1], "", 1) != 1 || read(asked[0], &byte, 1) != 1 ||
	    ioctl(faults, UFFDIO_ZEROPAGE, &there) || pthread_join(t, NULL) ||
	    read(closed[0], &byte, 1) != 1)
		_exit(1);
}

static void be_child(void)
{
	char byte;

	close(asked[1]);
	if (!missing_page())
		_exit(1);
	while (write(answered[1], "", 1) == 1 && read(asked[0], &byte, 1) == 1)
		hold();
	_exit(0);
}

static bool ask(void)
{
	char byte;

	return write(asked[1], "", 1) == 1 && read(answered[0], &byte, 1) == 1;
}

static void *leave(void *arg)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", closed[0]);
	if (unshare(CLONE_FILES) || open(path, O_RDONLY | O_CLOEXEC) < 0 || !ask())
		victim_wrong("no lock is held");
	return arg;
}

static int listed(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = 0;

	for (struct dirent *e; d && (e = readdir(d)); n += e->d_name[0] != '.')
		;
	if (d)
		closedir(d);
	return n;
}

static void on_command(const char *command)
{
	pthread_t t;

	if (strcmp(command, "rest") == 0) {
		if (!ask())
			victim_wrong("the child is gone");
		while (listed() > 1)
			victim_sleep_us(1000);
		victim_say("rested");
		return;
	}
	if (pthread_create(&t, NULL, leave, NULL) || pthread_join(t, NULL))
		victim_wrong("no thread");
	victim_say("left %d", listed());
}

int main(void)
{
	uint64_t x = 3;
	char byte;

	if (pipe(closed) || pipe(asked) || pipe(answered))
		return 1;
	switch (fork()) {
	case -1:
		return 1;
	case 0:
		be_child();
	}
	close(answered[1]);
	close(asked[0]);
	if (read(answered[0], &byte, 1) != 1)
		return victim_say("no userfaultfd"), 77;
	victim_say("ready");
	while (victim_poll(10, on_command)) {
		for (int i = 0; i < 1000; i++)
			x = goner_work(x);
		victim_count();
	}
	return victim_errors != 0;
}

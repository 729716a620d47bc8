/* SPDX-License-Identifier: MIT */
/*
 * pager [dispatch]: serves the faults of its own memory by a userfaultfd, in a function that is
 * given the address which is not there. With "dispatch" it has its system calls given to a handler
 * of its own instead (PR_SET_SYSCALL_USER_DISPATCH), once it is told to ("begin"), and calls a
 * function meanwhile that makes none.
 *
 *	hold	-> held		a thread is in a system call that nothing but the next
 *				command, or a signal that kills, ends: it does not stop
 *	let	-> let		it has its page
 */
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>

#include "tests/victims/victim.h"

enum { PAGES = 16, SET_DISPATCH = 59 };

static int faults;
static size_t size;
static volatile char selector;	/* 1: calls are given to the handler */
static volatile bool dispatched;
static char *held;		/* the page that the thread waits for */

PROBED void serve(const char *at)
{
	static char page[1 << 16];
	struct uffdio_copy copy = { .dst = (uintptr_t)at & ~(size - 1), .src = (uintptr_t)page,
				    .len = size };

	memset(page, 'x', size - 1);
	ioctl(faults, UFFDIO_COPY, &copy);
}

PROBED int work(const char *text)
{
	return text[0];
}

static void *serve_all(void *arg)
{
	struct uffd_msg m;

	while (read(faults, &m, sizeof(m)) == sizeof(m)) {
		char *at = (char *)(uintptr_t)m.arg.pagefault.address;

		if (at == held)
			victim_say("held");
		else
			serve(at);
	}
	return arg;
}

static char *missing(void)
{
	char *area = mmap(NULL, PAGES * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	struct uffdio_register r = { .range = { (uintptr_t)area, PAGES * size },
				     .mode = UFFDIO_REGISTER_MODE_MISSING };

	if (area == MAP_FAILED || ioctl(faults, UFFDIO_REGISTER, &r))
		victim_wrong("register: %s", strerror(errno));
	return area;
}

static void *be_held(void *arg)
{
	if (getrandom(held, 1, 0) != 1)
		victim_wrong("getrandom: %s", strerror(errno));
	victim_say("let");
	return arg;
}

static void touch(void)
{
	char *area = missing();

	for (int i = 0; i < PAGES; i++)
		if (area[i * size] != 'x')
			victim_wrong("page %d", i);
	munmap(area, PAGES * size);
	victim_count();
}

static void on_call(int signal, siginfo_t *info, void *context)
{
	selector = 0;
	victim_wrong("system call %d", info->si_syscall);
}

static void answer(const char *command)
{
	struct sigaction sa = { .sa_sigaction = on_call, .sa_flags = SA_SIGINFO };
	pthread_t t;

	if (strcmp(command, "hold") == 0) {
		held = missing();
		pthread_create(&t, NULL, be_held, NULL);
	} else if (strcmp(command, "let") == 0) {
		serve(held);
	}
	if (strcmp(command, "begin") != 0)
		return;
	dispatched = !sigaction(SIGSYS, &sa, NULL) &&
		!prctl(SET_DISPATCH, 1, 0, 0, (unsigned long)&selector);
	victim_say("%s", dispatched ? "dispatched" : "not dispatched");
}

int main(int argc, char **argv)
{
	struct uffdio_api api = { .api = UFFD_API };
	bool dispatch = argc > 1 && strcmp(argv[1], "dispatch") == 0;
	char *text = strdup("some text");
	pthread_t t;

	size = (size_t)sysconf(_SC_PAGESIZE);
	if (!dispatch) {
		faults = (int)syscall(SYS_userfaultfd, 0);
		if (faults < 0 || ioctl(faults, UFFDIO_API, &api))
			return victim_say("no userfaultfd"), 77;
		pthread_create(&t, NULL, serve_all, NULL);
	}
	victim_say("ready");
	while (victim_poll(10, answer)) {
		if (!dispatch)
			touch();
		selector = dispatched;
		if (work(text) != 's')
			victim_wrong("work");
		selector = 0;
		victim_count();
	}
	return victim_errors != 0;
}

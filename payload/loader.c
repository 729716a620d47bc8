/* SPDX-License-Identifier: MIT */
/*
 * loader: how does the payload get into the target?
 *
 * A flat piece of position-independent code, which the injector copies into a
 * page of the target and calls at its start, by a remote call on a hijacked
 * thread with all signals blocked. That thread either loads the payload
 * itself, or, where it may stand in the middle of malloc or of the loader,
 * starts a thread that does. What they share is struct loader (payload/abi.h).
 *
 * On failure the target runs as before: dlopen has undone itself, the thread
 * ends, and the status says what happened.
 */
#include <asm/unistd.h>
#include <linux/futex.h>
#include "arch/cpu.h"
#include "payload/abi.h"

#define RTLD_NOW 2	/* glibc's; dlfcn.h belongs to a hosted program */

void loader_start(struct loader *l, uint32_t in_place);

typedef void *dlopen_fn(const char *path, int flags);
typedef const char *dlerror_fn(void);
typedef void *start_fn(void *arg);
typedef int pthread_create_fn(uint64_t *thread, const void *attr, start_fn *, void *arg);
typedef int pthread_detach_fn(uint64_t thread);
typedef void hello_fn(uint64_t session);

static void *load_in_thread(void *arg);
static void load(struct loader *l);

/* First in the section: .text.hot* precedes .text in a linked file. */
__attribute__((section(".text.hot.loader")))
void loader_start(struct loader *l, uint32_t in_place)
{
	uint64_t thread;
	int err;

	if (in_place) {
		load(l);
		return;
	}
	err = ((pthread_create_fn *)l->pthread_create)(&thread, (void *)0,
						       load_in_thread, l);
	if (!err)
		return;
	l->result = err;
	__atomic_store_n(&l->status, LOADER_NO_THREAD, __ATOMIC_RELEASE);
}

static void finish(struct loader *l, uint32_t status)
{
	__atomic_store_n(&l->status, status, __ATOMIC_RELEASE);
	cpu_syscall(__NR_futex, (long)&l->status, FUTEX_WAKE, 1 << 30);
}

static void copy_error(struct loader *l)
{
	const char *text = ((dlerror_fn *)l->dlerror)();
	unsigned int i = 0;

	for (; text && text[i] && i < sizeof(l->error) - 1; i++)
		l->error[i] = text[i];
	l->error[i] = 0;
}

static void load(struct loader *l)
{
	uint64_t base;
	void *handle;
	int fd;

	l->tid = (int32_t)cpu_syscall(__NR_gettid, 0, 0, 0);
	__atomic_store_n(&l->status, LOADER_STARTED, __ATOMIC_RELEASE);
	handle = ((dlopen_fn *)l->dlopen)(l->path, RTLD_NOW);
	if (handle) {
		/* The handle is a struct link_map, which begins with the
		 * difference between addresses in the file and in memory. */
		base = *(uint64_t *)handle;
		l->handle = (uint64_t)handle;
		((hello_fn *)(base + l->hello_off))(l->session);
	} else {
		copy_error(l);
	}
	/* Once, also if a second victim has started a second loader. */
	fd = __atomic_exchange_n(&l->fd, -1, __ATOMIC_ACQ_REL);
	if (fd >= 0)
		cpu_syscall(__NR_close, fd, 0, 0);
	finish(l, handle ? LOADER_DONE : LOADER_FAILED);
}

/* Nobody joins it. */
static void *load_in_thread(void *arg)
{
	struct loader *l = arg;

	((pthread_detach_fn *)l->pthread_detach)(cpu_thread_pointer());
	load(l);
	return (void *)0;
}

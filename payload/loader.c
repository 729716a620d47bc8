/* SPDX-License-Identifier: MIT */
/*
 * loader: how does the payload get into the target?
 *
 * A flat piece of position-independent code, which the injector copies into a
 * page of the target and calls at its start, by a remote call on a hijacked
 * thread with all signals blocked. That thread maps pages for islands, as many as one
 * loan has time for; or, where it is the process's only one and nothing else will do, it
 * loads the payload. What they share is struct loader (payload/abi.h).
 *
 * On failure the target runs as before: dlopen has undone itself, and the status says
 * what happened.
 */
#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/mman.h>
#include "arch/cpu.h"
#include "payload/abi.h"

#define RTLD_NOW 2	/* glibc's; dlfcn.h belongs to a hosted program */

void loader_start(struct loader *l, uint64_t use);

typedef void *dlopen_fn(const char *path, int flags);
typedef const char *dlerror_fn(void);
typedef void hello_fn(uint64_t session);

static void loader_load(struct loader *l);
static void lay_islands(struct loan *l, uint32_t turn);

/* First in the section: .text.hot* precedes .text in a linked file. */
__attribute__((section(".text.hot.loader")))
void loader_start(struct loader *l, uint64_t use)
{
	if ((uint32_t)use == LOADER_ISLANDS)
		lay_islands(&l->loan, use >> 32);
	else
		loader_load(l);
}

static void copy_error(struct loader *l)
{
	const char *text = ((dlerror_fn *)l->dlerror)();
	unsigned int i = 0;

	for (; text && text[i] && i < sizeof(l->error) - 1; i++)
		l->error[i] = text[i];
	l->error[i] = 0;
}

static void loader_load(struct loader *l)
{
	void *handle = ((dlopen_fn *)l->dlopen)(l->path, RTLD_NOW);
	uint64_t base;

	if (handle) {
		/* The handle is a struct link_map, which begins with the
		 * difference between addresses in the file and in memory. */
		base = *(uint64_t *)handle;
		((hello_fn *)(base + l->hello_off))(l->session);
	} else {
		copy_error(l);
	}
	cpu_syscall(__NR_close, l->fd, 0, 0);
	l->status = handle ? LOADER_DONE : LOADER_FAILED;
}

/* How many words from the first on are of pages side by side, and in the same state? */
static uint32_t run_of(const uint64_t *words, uint32_t n)
{
	uint32_t run = 1;

	while (run < n && words[run] == words[0] + (uint64_t)run * PAGE)
		run++;
	return run;
}

static int map_pages(uint64_t at, uint64_t size)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
	long got = cpu_syscall6(__NR_mmap, (long)at, (long)size, PROT_READ | PROT_EXEC, flags,
				-1, 0);

	if (got == (long)at)
		return 0;
	if (got < 0 && got >= -4095)
		return (int)got;
	/* Before Linux 4.17 the flag is unknown, and the address a hint. */
	cpu_syscall(__NR_munmap, got, (long)size, 0);
	return -EEXIST;
}

/*
 * Pages that lie side by side: at once, or, where something is in the way of one, each by
 * itself, the first of them now. How many are settled; 0: no other would fare better.
 */
static uint32_t lay_run(struct loan *l, uint64_t *words, uint32_t n)
{
	uint64_t at = words[0] & ~(uint64_t)(PAGE - 1), state = words[0] % PAGE;
	int err = 0;

	n = run_of(words, n);
	if (state == ISLAND_UNWANTED) {
		cpu_syscall(__NR_munmap, (long)at, (long)n * PAGE, 0);
	} else if (state == ISLAND_WANTED) {
		err = map_pages(at, (uint64_t)n * PAGE);
		if (err == -EEXIST && n > 1) {
			n = 1;
			err = map_pages(at, PAGE);
		}
	} else {
		return n;
	}
	if (err && err != -EEXIST) {
		l->error = err;
		return 0;
	}
	state = state == ISLAND_WANTED && !err ? ISLAND_MAPPED : ISLAND_NONE;
	for (uint32_t i = 0; i < n; i++)
		words[i] = (at + (uint64_t)i * PAGE) | state;
	return n;
}

/*
 * In a call that leaves no trace in what the thread was interrupted in: it has no restart
 * block. If no injector comes, for we have stayed too long or it has died, we go home.
 */
static void linger(uint64_t ns)
{
	int64_t time[2] = { (int64_t)(ns / 1000000000), (int64_t)(ns % 1000000000) };

	cpu_syscall4(__NR_ppoll, 0, 0, (long)time, 0);
}

static void lay_islands(struct loan *l, uint32_t turn)
{
	uint64_t begun = cpu_clock(), ticks = l->ticks, ns = l->linger;
	uint64_t *words = (uint64_t *)l->list;
	uint32_t n = l->n;

	for (uint32_t i = 0, settled = 1; i < n && settled; i += settled) {
		if (__atomic_load_n(&l->turn, __ATOMIC_ACQUIRE) != turn)
			return;
		settled = lay_run(l, words + i, n - i);
		if (cpu_clock() - begun > ticks)
			break;
	}
	__atomic_store_n(&l->done, turn, __ATOMIC_RELEASE);
	linger(ns);
}

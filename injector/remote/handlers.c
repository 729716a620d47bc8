/* SPDX-License-Identifier: MIT */
#include "injector/remote/handlers.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "injector/proc/procfs.h"
#include "injector/ptrace/tracing.h"
#include "injector/remote/remote.h"
#include "injector/remote/loan.h"
#include "payload/abi.h"

enum {
	MASK_SIZE = 8,
	FEW_TRIES = 20,
};

struct asking {
	struct target *target;
	struct modules *mods;
	struct remote remote;
	uint64_t caught;	/* what is left of it */
};

static int look_at_handler(struct asking *a, int signal, raddr_t page)
{
	struct trap_action action;
	int64_t unused;
	int err = remote_try(&a->remote, "look at its signal handlers", &unused,
			     SYS_rt_sigaction, (uint64_t)signal, 0, page, MASK_SIZE, 0, 0);

	err = err ? err : target_read(a->target, page, &action, sizeof(action));
	if (!err && action.flags & (unsigned int)SA_RESETHAND)
		a->caught &= ~(1ull << (signal - 1));
	return err;
}

/* The kernel writes the answers to a page that is there for as long. */
static int look_at_handlers(struct asking *a)
{
	int64_t page, unused;
	int err = remote_try(&a->remote, "map a page", &page, SYS_mmap, 0, PAGE,
			     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0);

	if (err)
		return err;
	for (int signal = 1; signal < 64 && !err; signal++)
		if (a->caught & HANDLERS_FAULTS & 1ull << (signal - 1))
			err = look_at_handler(a, signal, (raddr_t)page);
	int back = remote_try(&a->remote, "unmap a page", &unused, SYS_munmap, (uint64_t)page,
			      PAGE, 0, 0, 0, 0);
	return err ? err : back;
}

static int handlers_ask(void *ctx)
{
	struct asking *a = ctx;
	struct gadgets g;
	int err = remote_gadgets(a->target, (struct range){ 0 }, &g);

	err = err ? err : loan_borrow(a->target, a->mods, LOAN_SYSCALLS, FEW_TRIES, &g,
					&a->remote);
	return err ? err : loan_give_back(&a->remote, look_at_handlers(a));
}

uint64_t handlers_caught(struct target *t, struct modules *mods)
{
	struct asking a = { .target = t, .mods = mods, .caught = procfs_caught(t->pid) };

	if (a.caught & HANDLERS_FAULTS && tracing(handlers_ask, &a) < 0)
		fail_clear();
	return a.caught;
}

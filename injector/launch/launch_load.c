/* SPDX-License-Identifier: MIT */
/*
 * launch_load: to the moment at which a program is complete, and has not begun.
 *
 * Debuggers know that moment: the loader calls an empty function, whose name is
 * part of their interface, each time that its list of modules changes. When it
 * does so for the first time with a consistent list, every library is mapped and
 * relocated, thread-local storage and malloc work (__libc_early_init has run),
 * and no constructor has: dlopen is allowed, as it is from there on in every
 * constructor. Before, it is not; and the entry point of the program comes after
 * the constructors of its libraries.
 *
 * (Some loaders call it once. What the loader has done says nothing of a program
 * whose runtime uses no library: see launch_static.c for what follows there.)
 *
 *  a. a trap over the first byte of that function
 *  b. run to it; put the byte back
 *  c. the list is being changed: step over the instruction, and again from a
 *  d. it is consistent: stay there, before the instruction
 *
 * Only one thread exists, and it runs nothing but the loader; so no other can see
 * the trap, or run past it. What was a trap is read back.
 */
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "injector/launch/launch_impl.h"
#include "injector/launch/rdebug.h"
#include "injector/modules/modules.h"

enum { STOP_BUDGET = 1000 * 1000 * 1000 };	/* ns */

struct loading {
	struct launch *launch;
	const struct target *target;
	raddr_t call;		/* the function that the loader calls */
	struct rdebug list;
	struct set_up by;	/* the program; `alone`: it wants nothing of any library */
	uint8_t byte[8];	/* what stands where the trap is to stand */
	bool changing;		/* the list has been seen to change */
};

static bool is_loader(struct module *m, struct loading *ld)
{
	raddr_t call;
	bool is = rdebug_find(m, &ld->list) &&
		symbols_dynamic(m->symbols, "_dl_debug_state", &call) == 0;

	fail_clear();
	ld->call = is ? call + m->bias : 0;
	return is;
}

static void look_for_runtime(struct module *exe, struct loading *ld)
{
	ld->by.runtime = module_symbols(exe) == 0 ? threads_of(exe->symbols) : NULL;
	ld->by.alone = ld->by.runtime && !exe->symbols->nslots;
	fail_clear();
}

/* The loader is the one module beside the executable; or is the executable, when
 * it was started by its own name. */
static int find_loader(struct loading *ld)
{
	struct modules mods;
	bool found = false, needed = false;
	int err = modules_open_process(ld->launch->pid, &mods);

	if (err)
		return err;
	for (size_t i = mods.n; i-- > 0 && !found;) {
		found = is_loader(&mods.v[i], ld);
		needed |= mods.v[i].symbols && mods.v[i].symbols->interp;
	}
	for (size_t i = 0; i < mods.n; i++)
		if (mods.v[i].is_exe)
			look_for_runtime(&mods.v[i], ld);
	modules_close(&mods);
	return found || !needed ? 0 :
		fail(0, "cannot start %s: its dynamic loader has no _dl_debug_state to stop at",
		     ld->launch->name);
}

static int loading_put(struct loading *ld, const uint8_t *bytes)
{
	uint8_t now[sizeof(ld->byte)];
	size_t n = gadget_trap.size;
	int err = target_write(ld->target, ld->call, bytes, n);

	err = err ? err : target_read(ld->target, ld->call, now, n);
	if (!err && memcmp(now, bytes, n) != 0)
		err = fail(0, "%s (%d): cannot write to its loader", ld->launch->name,
			   ld->launch->pid);
	return err;
}

/* b. Signals go where they belong meanwhile. */
static int to_trap(struct loading *ld)
{
	struct thread_hold *th = &ld->launch->thread;
	int status = 0;

	for (;;) {
		status = launch_run(ld->launch, PTRACE_CONT, launch_signal(status));
		if (status < 0)
			return status;
		if (launch_signal(status) != SIGTRAP)
			continue;
		int err = thread_regs(th);
		if (err || regs_trapped_at(&th->regs) == ld->call)
			return err;
	}
}

static int back_to_call(struct loading *ld)
{
	struct thread_hold *th = &ld->launch->thread;
	int err = loading_put(ld, ld->byte);

	regs_set_pc(&th->regs, ld->call);
	return err ? err : regs_set(th->tid, &th->regs);
}

/* c. */
static int step_over(struct loading *ld)
{
	int status = 0;

	do {
		status = launch_run(ld->launch, PTRACE_SINGLESTEP, launch_signal(status));
		if (status < 0)
			return status;
	} while (launch_signal(status) != SIGTRAP);
	return 0;
}

static int look_at_list(struct loading *ld, bool *complete)
{
	struct r_debug r;
	int err = rdebug_read(ld->target, &ld->list, &r);

	*complete = !err && (ld->changing || ld->list.pointer) && r.r_map &&
		r.r_state == RT_CONSISTENT;
	ld->changing |= !err && r.r_state == RT_ADD;
	return err;
}

static int to_complete(struct loading *ld)
{
	bool complete = false;
	int err = target_read(ld->target, ld->call, ld->byte, gadget_trap.size);

	while (!err && !complete) {
		err = loading_put(ld, gadget_trap.bytes);		/* a */
		err = err ? err : to_trap(ld);				/* b */
		err = err ? err : back_to_call(ld);
		err = err ? err : look_at_list(ld, &complete);
		if (!err && !complete)
			err = step_over(ld);				/* c */
	}
	return err;
}

int launch_loaded(struct launch *l, struct target *t)
{
	struct loading ld = { .launch = l, .target = t };
	int err = find_loader(&ld);

	if (!err && ld.call)
		err = to_complete(&ld);
	if (!err && (!ld.call || ld.by.alone)) {
		ld.by.alone = ld.call;
		err = launch_set_up(l, t, &ld.by);
	}
	if (err)
		return err;
	err = thread_to_event_stop(&l->thread, STOP_BUDGET);		/* d */
	if (err)
		return fail(-err, "hold %s (%d)", l->name, l->pid);
	l->thread.have_regs = false;
	return target_keep(t, &l->thread);
}

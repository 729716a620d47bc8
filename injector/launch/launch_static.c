/* SPDX-License-Identifier: MIT */
/*
 * launch_static: to the moment at which a static program is complete, and has
 * not begun.
 *
 * It has no loader. Its C library begins by itself: it relocates the program,
 * makes a control block for the main thread, and then calls the constructors. So
 * that block is waited for: once a thread knows its id by it, as an attach wants
 * it (injector/ptrace/tids.h), all of the program's own code is still to come. The same goes
 * for a language's runtime that makes threads, and what it keeps of one; it begins by itself
 * also where a loader has mapped the program.
 *
 *  1. run to the next system call. Until that block is there C libraries make
 *     only such as set up memory and the thread itself, a language's runtime looks at
 *     the machine, too; a program that makes another one is none of these, and has done
 *     nothing so far
 *  2. let the call be made
 *  3. does the thread know its id? The library stores it some instructions after
 *     the kernel has told it: go on by single steps, up to the next call
 */
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "arch/arch.h"
#include "injector/launch/launch_impl.h"
#include "injector/ptrace/tids.h"

enum { STEPS = 256 };

struct setting_up {
	struct launch *launch;
	const struct target *target;
	const struct set_up *by;
	uint64_t nr;		/* of the last call */
	bool told;		/* the kernel has told the thread its id */
};

static bool is_among(uint64_t nr, const uint64_t *calls, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (calls[i] == nr)
			return true;
	return false;
}

static bool sets_up(const struct setting_up *s)
{
	static const uint64_t calls[] = {
		SYS_brk, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_set_tid_address,
		SYS_set_robust_list, SYS_uname, SYS_getrandom, SYS_rseq,
	};
	const struct thread_runtime *r = s->by->runtime;

	return (long)s->nr == regs_nr_set_tp || is_among(s->nr, calls, ARRAY_SIZE(calls)) ||
		(r && is_among(s->nr, r->calls, r->ncalls));
}

static int refuse(const struct setting_up *s)
{
	return fail(0, "cannot start %s: it is statically linked, and its threads are not kept "
		    "as %s do", s->launch->name, threads_names()), -ENOTSUP;
}

static bool at_call(int status)
{
	return launch_signal(status) == (SIGTRAP | 0x80);
}

/* 1 and 2: to the next entry of a call that is allowed, or to an exit. */
static int to_call(struct setting_up *s)
{
	struct __ptrace_syscall_info info;
	pid_t tid = s->launch->thread.tid;
	int status = 0;

	do {
		int signal = at_call(status) ? 0 : launch_signal(status);

		status = launch_run(s->launch, PTRACE_SYSCALL, signal);
		if (status < 0)
			return status;
	} while (!at_call(status));
	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) < 0)
		return fail(errno, "watch %s (%d)", s->launch->name, s->launch->pid);
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		s->nr = info.entry.nr;
		return sets_up(s) ? 0 : refuse(s);
	}
	s->told |= s->nr == SYS_set_tid_address || s->nr == SYS_gettid;
	return 0;
}

static bool knows_itself(struct setting_up *s)
{
	struct thread_hold *th = &s->launch->thread;
	struct tids_of of;

	th->have_regs = false;
	if (thread_regs(th) < 0)
		return false;
	of = tids_note(s->target, th->tid, regs_tp(&th->regs));
	return of.place || (!s->by->alone && tids_any(NULL, &of, 0));
}

static bool before_call(struct setting_up *s)
{
	raddr_t pc = regs_pc(&s->launch->thread.regs);
	uint8_t code[ARCH_INSN_MAX];
	struct insn in;

	return target_read(s->target, pc, code, sizeof(code)) < 0 ||
		arch_host()->measure(code, sizeof(code), pc, &in) < 0 ||
		in.kind == INSN_SYSCALL;
}

/* 3. */
static int launch_step(struct setting_up *s, bool *known)
{
	int status = 0;

	*known = knows_itself(s);
	for (int i = 0; i < STEPS && !*known && !before_call(s); i++) {
		status = launch_run(s->launch, PTRACE_SINGLESTEP,
				    launch_signal(status) == SIGTRAP ? 0 : launch_signal(status));
		if (status < 0)
			return status;
		*known = knows_itself(s);
	}
	fail_clear();
	return 0;
}

int launch_set_up(struct launch *l, const struct target *t, const struct set_up *by)
{
	struct setting_up s = { .launch = l, .target = t, .by = by };
	bool known = false;
	int err = 0;

	while (!err && !known) {
		err = to_call(&s);
		if (!err && s.told)
			err = launch_step(&s, &known);
	}
	return err;
}

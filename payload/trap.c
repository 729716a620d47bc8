/* SPDX-License-Identifier: MIT */
/*
 * trap: a thread ran into a breakpoint: where does it go on?
 *
 * In the stub, if it is one of ours; else with what the application has asked
 * for, as if we were not here. The handler is installed with no signal blocked,
 * not even its own: a handler of another signal that comes in here may run into
 * a breakpoint, too, and the kernel ends a process that does so with SIGTRAP
 * blocked.
 */
#include <asm/unistd.h>
#include "payload/payload.h"

/* Of the kernel's headers. */
enum { TRAP_SIGNAL = 5, MASK_SIZE = 8, BLOCK = 0 };

#define RESET_HANDLER 0x80000000u

/* How siginfo begins. */
struct trap_info {
	int32_t signo, error, code;
};

struct traps payload_traps;

static uint64_t find_stub(uint64_t addr)
{
	const struct traps *t = &payload_traps;

	for (uint64_t i = 0, at = trap_hash(addr); i < TRAPS_MOST; i++) {
		const struct trap *e = &t->table[(at + i) % TRAPS_MOST];
		uint64_t here = observe(&e->addr);

		if (here == addr)
			return e->stub;
		if (!here)
			break;
	}
	return 0;
}

/* As with the default action: the process ends, by this signal, with what it
 * tells. */
static void end_by(const struct trap_info *info)
{
	static const struct trap_action deflt;
	long pid = cpu_syscall(__NR_getpid, 0, 0, 0);
	long tid = cpu_syscall(__NR_gettid, 0, 0, 0);

	cpu_syscall4(__NR_rt_sigaction, TRAP_SIGNAL, (long)&deflt, 0, MASK_SIZE);
	cpu_syscall4(__NR_rt_tgsigqueueinfo, pid, tid, TRAP_SIGNAL, (long)info);
}

/* What the application has asked to be blocked meanwhile; its mask of before is
 * in the frame, and comes back with it. */
static void block(uint64_t mask)
{
	mask &= ~(1ull << (TRAP_SIGNAL - 1));
	if (mask)
		cpu_syscall4(__NR_rt_sigprocmask, BLOCK, (long)&mask, 0, MASK_SIZE);
}

static void chain(int signal, void *info, void *frame)
{
	struct trap_action a = payload_traps.chain;
	void (*handler)(int, void *, void *) = (void (*)(int, void *, void *))a.handler;

	if (!handler)
		return end_by(info);
	if (a.flags & RESET_HANDLER)
		payload_traps.chain.handler = 0;
	block(a.mask);
	handler(signal, info, frame);
}

void payload_trap(int signal, void *info, void *frame)
{
	const struct trap_info *i = info;
	uint64_t *pc = cpu_frame_pc(frame);
	uint64_t stub = i->code == CPU_TRAP_CODE ? find_stub(*pc - CPU_TRAP_SIZE) : 0;

	if (stub)
		*pc = stub;
	else
		chain(signal, info, frame);
}

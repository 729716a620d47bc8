/* SPDX-License-Identifier: MIT */
/*
 * guard: is the process about to do what process_vm_readv would then end, or hang, it for?
 *
 * A filter may end the process for process_vm_readv, by which values are read (values.c), and it
 * may be set at any time. It is set by prctl(PR_SET_SECCOMP) or seccomp(), which programs call by
 * the C library's prctl() or syscall(). At the entry of these reading is given up before the call
 * is made. Likewise where a process has its system calls given to a handler of its own, which
 * would get ours; and where it makes a userfaultfd: a thread that reads what is not there waits
 * for the one that serves it, which may be itself.
 */
#include <asm/unistd.h>

#include "payload/payload.h"

/* PR_SET_SECCOMP, PR_SET_SYSCALL_USER_DISPATCH: include/uapi/linux/prctl.h */
enum { SET_SECCOMP = 22, SET_DISPATCH = 59 };

static bool is_option(uint64_t arg)
{
	return (uint32_t)arg == SET_SECCOMP || (uint32_t)arg == SET_DISPATCH;
}

/* Of either function: an argument that is taken for what it is not costs values, and no more. */
static bool forbids(const uint64_t *held)
{
	uint64_t general[READS_GENERAL];
	uint64_t first, second;

	cpu_held(held, general);
	first = general[CPU_FIRST];
	second = general[CPU_SECOND];
	return is_option(first) || first == __NR_seccomp || first == __NR_userfaultfd ||
		(first == __NR_prctl && is_option(second));
}

void payload_guard(uint64_t word, uint64_t sp, const uint64_t *held)
{
	struct session *s = observe(&payload_session);

	if (s && s->plans_funcs && forbids(held))
		values_stop_asking(s);
	if ((word & 3) != REC_EXT)
		payload_values_entry(word, sp, held);
}

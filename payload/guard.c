/* SPDX-License-Identifier: MIT */
/*
 * guard: is the process about to put itself under a seccomp filter?
 *
 * A filter may end the process for process_vm_readv, by which values are read (values.c), and it
 * may be set at any time. It is set by prctl(PR_SET_SECCOMP) or seccomp(), which programs call by
 * the C library's prctl() or syscall(). At the entry of these reading is given up before the call
 * is made.
 */
#include <asm/unistd.h>

#include "payload/payload.h"

enum { SET_SECCOMP = 22 };	/* PR_SET_SECCOMP: include/uapi/linux/prctl.h */

/* Of either function: an argument that is taken for what it is not costs values, and no more. */
static bool sets_filter(const uint64_t *held)
{
	uint64_t general[READS_GENERAL];
	uint64_t first, second;

	cpu_held(held, general);
	first = general[CPU_FIRST];
	second = general[CPU_SECOND];
	return (uint32_t)first == SET_SECCOMP || first == __NR_seccomp ||
		(first == __NR_prctl && (uint32_t)second == SET_SECCOMP);
}

void payload_guard(uint64_t word, uint64_t sp, const uint64_t *held)
{
	struct session *s = observe(&payload_session);

	if (s && s->plans_funcs && sets_filter(held))
		values_stop_asking(s);
	if ((word & 3) != REC_EXT)
		payload_values_entry(word, sp, held);
}

/* SPDX-License-Identifier: MIT */
#include "injector/ptrace/rseq.h"

#include <linux/rseq.h>
#include <sys/ptrace.h>

/*
 * A name alone proves nothing: it is left behind by a thread that has passed the
 * sequence, until the kernel next looks. It stays while a thread is stopped,
 * for the kernel looks on the way back.
 */
bool rseq_is_inside(const struct target *t, const struct thread_hold *th)
{
	struct __ptrace_rseq_configuration conf;
	struct rseq_cs sequence;
	raddr_t at;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, th->tid, sizeof(conf), &conf) < 0 ||
	    !conf.rseq_abi_pointer)
		return false;
	if (target_read(t, conf.rseq_abi_pointer + offsetof(struct rseq, rseq_cs), &at,
			sizeof(at)) < 0) {
		fail_clear();
		return true;
	}
	if (!at)
		return false;
	if (target_read(t, at, &sequence, sizeof(sequence)) < 0) {
		fail_clear();
		return true;
	}
	return regs_pc(&th->regs) - sequence.start_ip < sequence.post_commit_offset;
}

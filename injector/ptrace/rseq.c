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

/* A number of the C library's loader, or of a static program that has it. */
static bool read_variable(const struct target *t, const struct module *m, const char *name,
			  void *to, size_t n)
{
	raddr_t at;
	bool found = !symbols_dynamic(m->symbols, name, &at) ||
		!symbols_object(m->symbols, name, &at);
	bool got = found && target_read(t, m->bias + at, to, n) >= 0;

	if (!got)
		fail_clear();
	return got;
}

int64_t rseq_place(const struct target *t, const struct modules *mods)
{
	int64_t place;
	uint32_t size;	/* 0: it has registered none */

	for (size_t i = 0; i < mods->n; i++) {
		struct module *m = &mods->v[i];

		if (module_symbols(m)) {
			fail_clear();
			continue;
		}
		if (read_variable(t, m, "__rseq_size", &size, sizeof(size)) && size &&
		    read_variable(t, m, "__rseq_offset", &place, sizeof(place)))
			return place;
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "injector/ptrace/tids.h"

#include "arch/arch.h"
#include "injector/proc/procfs.h"

struct tids_of tids_note(const struct target *t, pid_t tid, raddr_t tp)
{
	struct tids_of ret = { .target = t, .tid = tid, .tp = tp };
	struct kept_thread k;
	const struct thread_runtime *keeper = threads_keeper(t, tp, &k);
	pid_t outer, inner;

	if (keeper && procfs_ids(t->pid, tid, &outer, &inner) > 0 && k.tid == (uint64_t)inner) {
		ret.keeper = keeper;
		ret.place = k.tid_offset;
	}
	return ret;
}

/* Is there a word with its own address? */
static bool leads_to_itself(const struct target *t, struct range r)
{
	enum { MOST = 4096 };
	uint64_t words[MOST / sizeof(uint64_t)];
	size_t n = range_size(r) / sizeof(*words);

	if (target_read(t, r.start, words, n * sizeof(*words)) < 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (words[i] == r.start + i * sizeof(*words))
			return true;
	return false;
}

/* Where the block ends at the thread pointer, memory may begin with it. */
bool tids_has_block(const struct target *t, raddr_t tp)
{
	enum { PAGE_LEAST = 4096 };
	raddr_t page = ALIGN_DOWN(tp, PAGE_LEAST);
	bool found = arch_host()->block_at_tp ?
		leads_to_itself(t, (struct range){ tp, tp + sizeof(uint64_t) }) :
		tp % sizeof(uint64_t) == 0 &&
		(leads_to_itself(t, (struct range){ page, tp }) ||
		 leads_to_itself(t, (struct range){ MAX(page, PAGE_LEAST) - PAGE_LEAST, page }));

	fail_clear();
	return found;
}

uint64_t tids_any(struct target *t, struct tids_of *of, int patience)
{
	uint64_t place = 0;

	if (!of->tp || !tids_has_block(of->target, of->tp))
		return 0;
	for (uint32_t i = 1; !place && threads_by_number(i); i++)
		if (threads_by_number(i)->ids)
			place = threads_by_number(i)->ids(t, of, patience);
	return place;
}

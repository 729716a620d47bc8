/* SPDX-License-Identifier: MIT */
#include "injector/ptrace/contexts.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "arch/regs.h"
#include "injector/proc/kernel.h"
#include "injector/proc/pagemap.h"
#include "injector/proc/procfs.h"

enum {
	MOST = 256 << 20,	/* bytes that are looked through */
	ENTRIES = 256,		/* of the pagemap, at once */
	PIECE = 64 << 10,
	WORDS = 3,		/* that tell a saved PC */
};

struct searching {
	const struct target *target;
	pid_t tid;		/* by which the memory is read */
	int pagemap;
	uint64_t left;		/* bytes that may be looked through */
	bool (*wanted)(void *ctx, raddr_t pc);
	void *ctx;
};

static bool search_words(const struct searching *s, const uint64_t *words, size_t n)
{
	for (size_t i = 0; i + WORDS <= n; i++)
		if (words[i] && regs_is_saved_pc(words + i) && s->wanted(s->ctx, words[i]))
			return true;
	return false;
}

/* Memory that is there, and the first words behind it. What has gone meanwhile holds nothing. */
static int search_range(struct searching *s, struct range r)
{
	enum { BEHIND = (WORDS - 1) * 8 };
	uint64_t words[PIECE / 8];
	const size_t step = PIECE - BEHIND;

	if (range_size(r) > s->left)
		return -E2BIG;
	s->left -= range_size(r);
	for (raddr_t at = r.start; at < r.end; at += step) {
		size_t want = MIN((size_t)PIECE, (size_t)(r.end + BEHIND - at));
		struct iovec local = { words, want }, remote = { (void *)(uintptr_t)at, want };
		ssize_t got = process_vm_readv(s->tid, &local, 1, &remote, 1, 0);

		if (got < 0 && errno != EFAULT)
			return -EAGAIN;
		if (got > 0 && search_words(s, words, (size_t)got / 8))
			return 1;
		if (got < (ssize_t)want)
			return 0;
	}
	return 0;
}

/* Runs of pages that are there. */
static int search_pages(struct searching *s, raddr_t start, const uint64_t *entries, size_t n)
{
	const size_t size = kernel_page();
	int found = 0;

	for (size_t i = 0, end; i < n && !found; i = end) {
		enum pagemap_place is = pagemap_place(entries[i]);

		for (end = i + 1; end < n && pagemap_place(entries[end]) == is;)
			end++;
		if (is == PAGEMAP_SWAPPED)
			return -EAGAIN;
		if (is == PAGEMAP_THERE)
			found = search_range(s, (struct range){ start + i * size,
								start + end * size });
	}
	return found;
}

static int search_mapping(void *ctx, const struct mapping *m)
{
	struct searching *s = ctx;
	const size_t size = kernel_page();
	uint64_t entries[ENTRIES];
	int found = 0;

	if (!m->write || !m->read || m->shared)
		return 0;
	for (raddr_t at = m->range.start; at < m->range.end && !found; at += ENTRIES * size) {
		size_t n = MIN((size_t)ENTRIES, (size_t)(m->range.end - at) / size);

		if (!pagemap_read(s->pagemap, at, n, entries))
			return -EAGAIN;
		found = search_pages(s, at, entries, n);
	}
	return found;
}

int contexts_search(const struct target *t, bool (*wanted)(void *ctx, raddr_t pc), void *ctx)
{
	auto_close int pagemap = pagemap_open(t->pid);
	struct searching s = { .target = t, .tid = procfs_front(t->pid), .pagemap = pagemap,
			       .left = MOST, .wanted = wanted, .ctx = ctx };

	if (procfs_status(t->pid, s.tid, "RssAnon", 10, 0) > MOST / 1024)
		return -E2BIG;
	return pagemap < 0 ? -EAGAIN : procfs_maps(t->pid, search_mapping, &s);
}

/* SPDX-License-Identifier: MIT */
#include "injector/unwind.h"

#include <libunwind-ptrace.h>
#include <string.h>

enum {
	MOST_FRAMES = 4096,	/* a hostile stack may be a ring */
	PAGE_BYTES = 4096,
	PAGES = 32,
};

/*
 * What a walk has read of the target. libunwind asks for a word at a time, and
 * for the same ones again and again: hundreds of ptrace calls for one stack,
 * while its thread stands still. Whole pages are a dozen reads.
 */
struct pages {
	const struct target *target;
	bool have[PAGES];
	raddr_t at[PAGES];
	uint8_t bytes[PAGES][PAGE_BYTES];
};

/* Of the walk that this thread is at. libunwind hands its own context to some
 * accessors, so ours cannot come with the call. */
static _Thread_local struct pages *walked;

/* What cannot be read is no failure of the walk, nor takes it the place of what has
 * failed before. */
static const uint8_t *page_at(raddr_t at)
{
	size_t i = at / PAGE_BYTES % PAGES;
	bool failed = fail_text()[0];

	if (walked->have[i] && walked->at[i] == at)
		return walked->bytes[i];
	walked->have[i] = target_read(walked->target, at, walked->bytes[i], PAGE_BYTES) == 0;
	walked->at[i] = at;
	if (!walked->have[i] && !failed)
		fail_clear();
	return walked->have[i] ? walked->bytes[i] : NULL;
}

static int read_word(unw_addr_space_t space, unw_word_t addr, unw_word_t *word, int write,
		     void *ctx)
{
	uint8_t *to = (uint8_t *)word;

	if (write)
		return -UNW_EINVAL;
	for (size_t i = 0, n; i < sizeof(*word); i += n) {
		size_t in_page = (addr + i) % PAGE_BYTES;
		const uint8_t *page = page_at(addr + i - in_page);

		if (!page)
			return -UNW_EINVAL;
		n = MIN(sizeof(*word) - i, PAGE_BYTES - in_page);
		memcpy(to + i, page + in_page, n);
	}
	return 0;
}

static int walk(unw_cursor_t *c, int (*each)(void *ctx, const struct unwind_frame *),
		void *ctx)
{
	bool signal = false;

	for (int i = 0; i < MOST_FRAMES; i++) {
		struct unwind_frame f = { 0 };
		unw_word_t pc, sp;

		if (unw_get_reg(c, UNW_REG_IP, &pc) < 0 || unw_get_reg(c, UNW_REG_SP, &sp) < 0)
			return 0;
		/* Some versions of libunwind say "signal frame" of the kernel's
		 * frame, others once they have stepped over it. */
		f = (struct unwind_frame){ pc, sp, signal || unw_is_signal_frame(c) > 0 };
		signal = f.signal && !signal;
		int err = pc ? each(ctx, &f) : 0;
		if (err)
			return err;
		int more = unw_step(c);
		if (more <= 0)
			return more == 0 || !pc;
	}
	return 0;
}

int unwind_walk(const struct target *t, pid_t tid,
		int (*each)(void *ctx, const struct unwind_frame *), void *ctx)
{
	auto_free struct pages *pages = calloc(1, sizeof(*pages));
	int result = 0;
	unw_cursor_t cursor;
	unw_accessors_t accessors = _UPT_accessors;

	if (!pages)
		return 0;
	pages->target = t;
	walked = pages;
	accessors.access_mem = read_word;
	unw_addr_space_t space = unw_create_addr_space(&accessors, 0);
	void *upt = space ? _UPT_create(tid) : NULL;

	if (upt && unw_init_remote(&cursor, space, upt) == 0)
		result = walk(&cursor, each, ctx);
	if (upt)
		_UPT_destroy(upt);
	if (space)
		unw_destroy_addr_space(space);
	walked = NULL;
	return result;
}

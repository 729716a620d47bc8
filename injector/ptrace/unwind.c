/* SPDX-License-Identifier: MIT */
#include "injector/ptrace/unwind.h"

#include <libunwind-ptrace.h>
#include <string.h>

#include "injector/ptrace/unwind_signs.h"
#include "payload/page.h"

/* libunwind has it for programs that know their tables themselves, as perf does, but in no
 * header. */
#define search_table UNW_OBJ(dwarf_search_unwind_table)
int search_table(unw_addr_space_t, unw_word_t ip, unw_dyn_info_t *, unw_proc_info_t *,
		 int need_unwind_info, void *ctx);

enum {
	MOST_FRAMES = 4096,	/* a hostile stack may be a ring */
	MOST_WORDS = 1 << 22,	/* and hostile unwind information a loop */
	PAGES = 32,
};

/*
 * What a walk has read of the target. libunwind asks for a word at a time, and
 * for the same ones again and again: hundreds of ptrace calls for one stack,
 * while its thread stands still. Whole pages are a dozen reads.
 */
struct pages {
	struct target *target;
	unsigned int words;	/* that libunwind has asked for */
	uint64_t sign;		/* bits of a return address that sign it */
	bool lost;		/* it came to a frame whose CFA the table does not know */
	bool have[PAGES];
	raddr_t at[PAGES];
	uint8_t bytes[PAGES][PAGE];
};

/* Of the walk that this thread is at. libunwind hands its own context to some
 * accessors, so ours cannot come with the call. */
static _Thread_local struct pages *walked;

/* What cannot be read is no failure of the walk, nor takes it the place of what has
 * failed before. */
static const uint8_t *page_at(raddr_t at)
{
	size_t i = at / PAGE % PAGES;
	bool failed = fail_text()[0];

	if (walked->have[i] && walked->at[i] == at)
		return walked->bytes[i];
	walked->have[i] = target_read(walked->target, at, walked->bytes[i], PAGE) == 0;
	walked->at[i] = at;
	if (!walked->have[i] && !failed)
		fail_clear();
	return walked->have[i] ? walked->bytes[i] : NULL;
}

static bool read_bytes(raddr_t addr, void *buf, size_t size)
{
	for (size_t i = 0, n; i < size; i += n) {
		size_t in_page = (addr + i) % PAGE;
		const uint8_t *page = page_at(addr + i - in_page);

		if (!page)
			return false;
		n = MIN(size - i, PAGE - in_page);
		memcpy((uint8_t *)buf + i, page + in_page, n);
	}
	return true;
}

/* Without its signature, if that makes it an address of code: versions of libunwind that do
 * not know of signatures (1.6 does not) would find nothing there. */
static unw_word_t unsigned_word(unw_word_t word)
{
	unw_word_t plain = word & ~walked->sign;
	const struct area *a = plain != word ? layout_at(&walked->target->layout, plain) : NULL;

	return a && a->exec ? plain : word;
}

static int read_word(unw_addr_space_t space, unw_word_t addr, unw_word_t *word, int write,
		     void *ctx)
{
	if (write || ++walked->words > MOST_WORDS || !read_bytes(addr, word, sizeof(*word)))
		return -UNW_EINVAL;
	*word = unsigned_word(*word);
	return 0;
}

static int read_register(unw_addr_space_t space, unw_regnum_t reg, unw_word_t *word, int write,
			 void *ctx)
{
	int err = _UPT_access_reg(space, reg, word, write, ctx);

	if (!err && !write)
		*word = unsigned_word(*word);
	return err;
}

/* An operation of a program that libunwind 1.6 stumbles over: it is to see none. The page has
 * just been read, and is another's at most if the entry's own are many. */
static void take_out(raddr_t at)
{
	size_t i = at / PAGE % PAGES;

	if (walked->have[i] && walked->at[i] == ALIGN_DOWN(at, PAGE))
		walked->bytes[i][at % PAGE] = 0;
}

/* A register that lies at the CFA or above it is in another function's frame, for which there is
 * one reason: the table forgets that the stack has been pushed to, and all frames above would be
 * taken for what they are not. */
static void note_above(raddr_t at)
{
	uint8_t op[3];		/* and the register, and a factor that is negative */

	walked->lost |= read_bytes(at, op, sizeof(op)) && (op[2] & 0xc0) == 0x40;
}

/* libunwind-ptrace would read the list of mappings, and the headers of the file, for each
 * frame. */
static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *ret,
			  int need, void *ctx)
{
	struct target *t = walked->target;
	const struct area *a = layout_find(&t->layout, t->pid, ip);
	struct unwind_table table;

	if (!a || !a->image || !unwind_table_find(&t->layout, a->image, read_bytes, &table))
		return -UNW_ENOINFO;
	if (regs_sign_op) {
		unwind_signs(&table, ip, regs_sign_op, read_bytes, take_out);
		unwind_signs(&table, ip, regs_above_op, read_bytes, note_above);
	}
	unw_dyn_info_t info = {
		.start_ip = a->range.start, .end_ip = a->range.end,
		.format = UNW_INFO_FORMAT_REMOTE_TABLE,
		.u.rti = { .segbase = table.header, .table_data = table.at,
			   .table_len = table.entries },
	};
	memset(ret, 0, sizeof(*ret));
	return search_table(space, ip, &info, ret, need, ctx);
}

/* After unw_step() has said that the frame it was at is the last one: is it? */
static bool has_ended(unw_cursor_t *c)
{
	unw_word_t pc;

	return regs_frames_end || (unw_get_reg(c, UNW_REG_IP, &pc) == 0 && !pc);
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
		if (walked->lost)
			return 0;
		if (more <= 0)
			return (more == 0 && has_ended(c)) || !pc;
	}
	return 0;
}

int unwind_walk(struct target *t, pid_t tid,
		int (*each)(void *ctx, const struct unwind_frame *), void *ctx)
{
	auto_free struct pages *pages = calloc(1, sizeof(*pages));
	int result = 0;
	unw_cursor_t cursor;
	unw_accessors_t accessors = _UPT_accessors;

	if (!pages)
		return 0;
	pages->target = t;
	pages->sign = regs_signed_bits(tid);
	walked = pages;
	accessors.access_mem = read_word;
	accessors.access_reg = read_register;
	accessors.find_proc_info = find_proc_info;
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

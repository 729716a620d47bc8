/* SPDX-License-Identifier: MIT */
#include "injector/unwind.h"

#include <libunwind-ptrace.h>

enum { MOST_FRAMES = 4096 };	/* a hostile stack may be a ring */

static int walk(unw_cursor_t *c, int (*each)(void *ctx, const struct unwind_frame *),
		void *ctx)
{
	unw_word_t pc, sp;

	for (int i = 0; i < MOST_FRAMES; i++) {
		if (unw_get_reg(c, UNW_REG_IP, &pc) < 0 || unw_get_reg(c, UNW_REG_SP, &sp) < 0)
			return 0;
		struct unwind_frame f = { pc, sp, false };
		int err = pc ? each(ctx, &f) : 0;
		if (err)
			return err;
		/* libunwind says of the frame that interrupted code belongs to
		 * "signal frame" when it is about to step over it. */
		bool signal = unw_is_signal_frame(c) > 0;
		int more = unw_step(c);
		if (more <= 0)
			return more == 0 || !pc;
		if (signal && unw_get_reg(c, UNW_REG_IP, &pc) == 0 &&
		    unw_get_reg(c, UNW_REG_SP, &sp) == 0) {
			f = (struct unwind_frame){ pc, sp, true };
			err = each(ctx, &f);
			if (err)
				return err;
		}
	}
	return 0;
}

int unwind_walk(pid_t tid, int (*each)(void *ctx, const struct unwind_frame *), void *ctx)
{
	int result = 0;
	unw_cursor_t cursor;
	unw_addr_space_t space = unw_create_addr_space(&_UPT_accessors, 0);
	void *upt = space ? _UPT_create(tid) : NULL;

	if (upt && unw_init_remote(&cursor, space, upt) == 0)
		result = walk(&cursor, each, ctx);
	if (upt)
		_UPT_destroy(upt);
	if (space)
		unw_destroy_addr_space(space);
	return result;
}

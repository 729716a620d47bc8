/* SPDX-License-Identifier: MIT */
#include "injector/patch/restore.h"

#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "injector/patch/edit.h"
#include "injector/patch/order.h"
#include "injector/session/ours.h"

struct restoring {
	struct restore *todo;
	struct edit edit;
};

/* A PC at a hole goes to the stub, where the jump that stands there leads; at
 * the start of a window it may stay, and inside one it cannot be. */
static int out_of_hole(void *ctx, const struct rest *rest, raddr_t *to)
{
	const struct restoring *r = ctx;
	struct insn in;

	for (size_t i = r->edit.first.n; i-- > 0;) {
		const struct change *c = &r->edit.first.v[i];

		if (c->rank)
			break;		/* holes are last */
		if (c->addr == rest->pc &&
		    arch_host()->measure(c->from, c->len, rest->pc, &in) == 0)
			*to = in.dest;
	}
	return 0;
}

/* No unwinder would find its way from there. A thread that does not come out is waited
 * for as long as the stops are short. */
static int out_of_ours(void *ctx, const struct rest *rest, raddr_t *to)
{
	const struct restoring *r = ctx;

	return ours_has(r->todo->session, rest->pc) && !r->edit.unbounded ?
		fail(EBUSY, "a thread is still in code of ours") : 0;
}

static int restore_prepare(void *ctx)
{
	const struct restoring *r = ctx;
	size_t at;

	return text_touch(r->todo->target, r->todo->changes, r->todo->n, &at);
}

static void restore_written(void *ctx)
{
	const struct restoring *r = ctx;

	if (r->todo->restored)
		r->todo->restored(r->todo->ctx);
}

int restore(struct restore *todo)
{
	size_t plain = order_plain(todo->changes, todo->n);
	struct restoring r = {
		.todo = todo,
		.edit = { .target = todo->target, .max_pause = todo->max_pause,
			  .must = todo->whole, .prepare = restore_prepare,
			  .written = restore_written,
			  .first = { todo->changes, plain, out_of_hole },
			  .then = { todo->changes + plain, todo->n - plain,
				    todo->session && todo->whole ? out_of_ours : NULL } },
	};
	struct edit *e = &r.edit;

	e->ctx = &r;
	int err = edit(e);
	/* What is left of the two lists is one again. */
	memmove(todo->changes + e->first.n, e->then.v, e->then.n * sizeof(*e->then.v));
	todo->n = e->first.n + e->then.n;
	todo->done = e->done;
	todo->forced = e->forced;
	return err;
}

/* SPDX-License-Identifier: MIT */
/* remote, continued: where on a borrowed thread's stack is room for a frame? */
#include "injector/remote/remote.h"

#include <errno.h>

#include "injector/proc/procfs.h"
#include "injector/ptrace/threads.h"
#include "injector/ptrace/tids.h"

enum {
	RED_ZONE = 256,		/* below sp, and then some */
	CALL_ROOM = 512,	/* that a function of ours may need below the frame */
};

struct stack_search {
	raddr_t sp, tp;
	bool main;
	bool kept;		/* `born` is what its language's runtime keeps of it */
	struct range of_sp, born;
};

/* The mapping with this address, if it may be a stack. */
static struct range writable(const struct layout *l, raddr_t addr)
{
	const struct area *a = layout_at(l, addr);

	return a && a->write ? a->range : (struct range){ 0 };
}

static bool look_up(const struct layout *l, struct stack_search *s)
{
	s->of_sp = writable(l, s->sp);
	if (!s->kept)
		s->born = s->main ? l->main_stack : writable(l, s->tp - 1);
	return s->of_sp.end && (s->kept || s->born.end);
}

/* A stack stays as long as its thread does, and may only grow, downwards: so what was
 * read before it was stopped is enough, unless it is younger. */
static int find_mapped(const struct remote *r, struct stack_search *s)
{
	struct target *t = r->target;

	if (s->main && range_has(t->layout.main_stack, s->sp)) {
		s->of_sp = s->born = t->layout.main_stack;
		return 0;
	}
	if (layout_knows(&t->layout, t->pid, r->thread->tid) && look_up(&t->layout, s))
		return 0;
	int err = layout_read(&t->layout, t->pid, NULL, NULL);
	if (err)
		return err;
	look_up(&t->layout, s);
	t->stacks = (struct stacks){ r->thread->tid, s->tp, s->of_sp, s->born };
	return 0;
}

/*
 * Of another than the main thread the stack is known if a C library has made it: then
 * it ends at the control block, which is where the thread pointer points to. Or if a
 * language's runtime has, and says where it is.
 */
static int find_stacks(const struct remote *r, struct stack_search *s)
{
	const struct stacks *known = &r->target->stacks;
	struct kept_thread k;

	*s = (struct stack_search){ .sp = regs_sp(&r->saved), .tp = regs_tp(&r->saved),
				    .main = r->thread->tid == r->target->pid };
	bool of_libc = s->main || tids_has_block(r->target, s->tp);
	s->kept = !of_libc;
	if (!of_libc && threads_keeper(r->target, s->tp, &k))
		s->born = k.own;
	if (known->tid == r->thread->tid && known->tp == s->tp && range_has(known->of_sp, s->sp)) {
		s->of_sp = known->of_sp;
		s->born = s->kept ? s->born : known->born;
		return 0;
	}
	return find_mapped(r, s);
}

/*
 * Where may the frame lie? Below the thread's stack pointer, if that is on the
 * stack that it was born with and there is room. On a fiber's, a coroutine's
 * or a signal stack, other data may begin anywhere below: then at the far end
 * of the born stack, as long as that is far from being used; those that a language's runtime
 * has made are too small for that. A thread without a stack runs no code of the program,
 * and its thread pointer is another's: a worker of the kernel's. -EAGAIN: nowhere.
 */
int remote_place(const struct remote *r, raddr_t *top)
{
	enum { FAR = 64 << 10 };
	struct stack_search s;
	uint64_t tail = frame_tail(&r->xstate);
	uint64_t need = frame_space(&r->xstate) + tail + RED_ZONE + CALL_ROOM;
	int err = find_stacks(r, &s);

	if (err)
		return err;
	bool home = s.kept ? range_has(s.born, s.sp) : s.born.end &&
		s.of_sp.start == s.born.start && (s.main || s.sp < s.tp);
	if (home && s.sp - s.born.start >= need)
		*top = MIN(s.sp - RED_ZONE, s.of_sp.end - tail);
	else if (!home && s.of_sp.end && !s.kept && range_size(s.born) >= 2 * FAR && need < FAR)
		*top = s.born.start + need;
	else
		return fail(EAGAIN, "thread %d has no room on its stack", r->thread->tid);
	return 0;
}

bool remote_has_room(struct target *t, struct thread_hold *th)
{
	struct remote r = { .target = t, .thread = th };
	raddr_t unused;

	bool ok = thread_regs(th) == 0 && xstate_get(th->tid, &r.xstate) == 0;
	r.saved = th->regs;
	ok = ok && remote_place(&r, &unused) == 0;
	xstate_clear(&r.xstate);
	fail_clear();
	return ok;
}

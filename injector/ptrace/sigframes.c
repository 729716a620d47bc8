/* SPDX-License-Identifier: MIT */
#include "injector/ptrace/sigframes.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "injector/proc/procfs.h"
#include "injector/ptrace/code.h"
#include "injector/ptrace/threads.h"
#include "injector/ptrace/unwind.h"

enum {
	CODE_MAX = 256 << 20,	/* of one mapping */
	PIECE = 1 << 20,
	CHUNK = 64 << 10,
	KNOWN_MOST = 16 << 20,	/* of a stack whose end is known */
	UNKNOWN_MOST = 256 << 10,
	NESTED_MOST = 8,	/* handlers that interrupted handlers on other
				 * stacks */
};

struct preparing {
	const struct target *target;
	struct sigframes *ret;
};

/* The signal trampolines in `n` bytes of code at `start`. */
static int search_piece(struct preparing *p, raddr_t start, const uint8_t *code, size_t n)
{
	for (size_t at = 0; ; at++) {
		const uint8_t *hit = memmem(code + at, n - at, gadget_sigreturn.bytes,
					    gadget_sigreturn.size);
		if (!hit)
			return 0;
		raddr_t *r = vec_push(p->ret->restorers, p->ret->n, p->ret->cap);
		if (!r)
			return fail(ENOMEM, "list the signal trampolines");
		at = (size_t)(hit - code);
		*r = start + at;
	}
}

/* Piece by piece, for there may be a lot of it; one begins with as much of the one before
 * as may be the start of a trampoline. */
static int search_pieces(struct preparing *p, struct range range, const struct code *c)
{
	size_t step = PIECE - gadget_sigreturn.size + 1;
	auto_free uint8_t *code = malloc(PIECE);
	int err = code ? 0 : fail(ENOMEM, "read the code of %d", p->target->pid);

	for (raddr_t at = range.start; at < range.end && !err; at += step) {
		size_t n = MIN((size_t)PIECE, range.end - at);

		if (code_read(c, at, code, n) < 0) {
			fail_clear();
			break;
		}
		err = search_piece(p, at, code, n);
	}
	return err;
}

static int search_code(void *ctx, const struct mapping *m)
{
	struct preparing *p = ctx;
	struct code c;

	if (!m->exec || !m->read || m->path[0] != '/' || range_size(m->range) > CODE_MAX ||
	    frame_mark)
		return 0;
	code_open(p->target, m, &c);
	int err = search_pieces(p, m->range, &c);
	code_close(&c);
	return err;
}

int sigframes_prepare(struct target *t, struct sigframes *ret)
{
	struct preparing p = { t, ret };

	/* Mappings come in order of address, so the list is sorted. */
	*ret = (struct sigframes){ 0 };
	return layout_read(&t->layout, t->pid, search_code, &p);
}

void sigframes_clear(struct sigframes *s)
{
	free(s->restorers);
	*s = (struct sigframes){ 0 };
}

/* By which a frame is known, frame_mark_offset bytes behind its start. */
static bool is_mark(const struct sigframes *s, raddr_t word)
{
	if (frame_mark)
		return word == frame_mark;
	for (size_t i = 0; i < s->n; i++)
		if (s->restorers[i] == word)
			return true;
	return false;
}

struct search {
	const struct target *target;
	pid_t tid;
	const struct sigframes *frames;
	int (*each)(void *ctx, const struct sigframe *);
	void *ctx;
	raddr_t tp;
	struct kept_thread kept; /* all zeros: a C library has made the thread */
	raddr_t pending[NESTED_MOST];	/* stack pointers to go on from */
	size_t npending, next;
};

/* How far up the stack with this stack pointer goes, as far as is known. */
static raddr_t stack_end(const struct search *s, raddr_t sp)
{
	if (range_has(s->target->layout.main_stack, sp))
		return s->target->layout.main_stack.end;
	if (kept_stack(&s->kept, sp).end)
		return MIN(kept_stack(&s->kept, sp).end, sp + KNOWN_MOST);
	if (s->tp > sp && s->tp - sp < KNOWN_MOST)
		return s->tp;
	return sp + UNKNOWN_MOST;
}

static int sigframes_found(struct search *s, raddr_t at, struct range scanned)
{
	struct sigframe f = { .at = at };

	int err = target_read(s->target, at + (raddr_t)frame_pc_offset, &f.rest.pc, 8);

	err = err ? err : target_read(s->target, at + (raddr_t)frame_sp_offset, &f.rest.sp, 8);
	err = err ? err : target_read(s->target, at + (raddr_t)frame_mask_offset, &f.mask, 8);
	for (size_t i = 0; i < regs_nways && !err; i++)
		err = target_read(s->target, at + (raddr_t)frame_way_offsets[i],
				  &f.rest.ways[i], 8);
	if (err) {
		fail_clear();
		return 0;
	}
	/* The handler ran on a stack of its own: the interrupted one may hold
	 * further frames. */
	if (!range_has(scanned, f.rest.sp) && s->npending < NESTED_MOST)
		s->pending[s->npending++] = f.rest.sp;
	return s->each(s->ctx, &f);
}

static int scan_words(struct search *s, const uint64_t *words, size_t n, raddr_t at,
		      struct range scanned)
{
	for (size_t i = 0; i < n; i++) {
		if (!words[i] || !is_mark(s->frames, words[i]))
			continue;
		int err = sigframes_found(s, at + i * 8 - (raddr_t)frame_mark_offset, scanned);
		if (err)
			return err;
	}
	return 0;
}

static int scan_stack(struct search *s, raddr_t sp)
{
	uint64_t words[CHUNK / 8];
	struct range scanned = { ALIGN_DOWN(sp, 8), stack_end(s, sp) };

	for (raddr_t at = scanned.start; at < scanned.end;) {
		size_t want = MIN((size_t)(scanned.end - at), sizeof(words));
		struct iovec local = { words, want };
		struct iovec remote = { (void *)(uintptr_t)at, want };
		/* By the thread: the main one's memory is gone once it has ended. */
		ssize_t got = process_vm_readv(s->tid, &local, 1, &remote, 1, 0);

		if (got < 0 && errno != EFAULT)
			return fail(EAGAIN, "read the stack of thread %d", s->tid);
		int err = got > 0 ? scan_words(s, words, (size_t)got / 8, at, scanned) : 0;

		if (err || got < (ssize_t)want)
			return err;
		at += (raddr_t)got;
	}
	return 0;
}

int sigframes_search(const struct target *t, const struct sigframes *frames,
		     struct thread_hold *th,
		     int (*each)(void *ctx, const struct sigframe *), void *ctx)
{
	int err = thread_regs(th);

	if (err)
		return err;
	struct search s = { .target = t, .tid = th->tid, .frames = frames, .each = each, .ctx = ctx,
			    .tp = regs_tp(&th->regs) };
	threads_keeper(t, s.tp, &s.kept);
	s.pending[s.npending++] = regs_sp(&th->regs);
	while (!err && s.next < s.npending)
		err = scan_stack(&s, s.pending[s.next++]);
	return err;
}

struct reach {
	const struct sigframe *frame;
	raddr_t sp;		/* how far the walk has come */
};

static int is_this(void *ctx, const struct unwind_frame *frame)
{
	struct reach *r = ctx;
	const struct sigframe *f = r->frame;

	r->sp = frame->sp;
	return frame->signal && frame->pc == f->rest.pc && frame->sp == f->rest.sp ? 2 : 0;
}

/* libunwind also calls it the outermost frame when it is in code that it knows
 * nothing of and finds no frame pointer: then it has not come past this one. */
int sigframe_is_live(struct target *t, const struct thread_hold *th,
		     const struct sigframe *f)
{
	struct reach r = { .frame = f };

	switch (unwind_walk(t, th->tid, is_this, &r)) {
	case 2: return 1;
	case 1: return r.sp > f->at ? 0 : -EAGAIN;
	default: return -EAGAIN;
	}
}

int sigframe_set_pc(const struct target *t, const struct sigframe *f, raddr_t pc)
{
	return target_write(t, f->at + (raddr_t)frame_pc_offset, &pc, sizeof(pc));
}

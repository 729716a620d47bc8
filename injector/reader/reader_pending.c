/* SPDX-License-Identifier: MIT */
/*
 * reader_pending: where calls are sifted, which have been open for long, and are not recorded yet?
 *
 * A call is recorded as it ends. One that hangs would never be seen, and that is the one that
 * is looked for. So now and then the frames of each thread are read, and a call that has taken as
 * long as it has to is told as begun. Its own record comes later, perhaps, and says the same begin:
 * then it is not told again (calls_begun).
 *
 * The frames are the process's own memory, and its threads run: what is read may be of two
 * moments. A frame counts only with the side that is its own, in the session. And a thread may be
 * put aside in the middle of our own code, where it has found that a call was short, and has not
 * taken its frame away yet. So a thread is believed only that
 *
 * - waits in a system call, which our code makes none of but process_vm_readv; or
 * - has run for a while since it was looked at last; then calls that were open there.
 */
#include "injector/reader/reader_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "injector/proc/procfs.h"
#include "values/condition.h"

#define load(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)

enum { LOOK_NS = 100000000, LONG_NS = 100000000, RUN_NS = 1000000 };

static bool read_memory(pid_t pid, raddr_t at, void *buf, size_t n)
{
	struct iovec here = { buf, n }, there = { (void *)at, n };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

/* The piece of the frame table that stack i has. */
static struct range piece(uint32_t i)
{
	uint64_t start = i ? FRAMES_SPLIT + (i - 1) * (uint64_t)FRAMES_OTHER : FRAMES_OFF;

	return (struct range){ start, i ? start + FRAMES_OTHER : FRAMES_SPLIT };
}

/* One thread, as it is looked at. */
struct sight {
	struct reader *r;
	struct lane *l;
	uint32_t index;
	raddr_t at;		/* its struct thread */
	struct thread t;
	uint64_t now, least;	/* ticks */
	uint64_t since;		/* calls that began later are not believed; ticks */
};

/* For how long has its thread run, ns? 0: the kernel does not say. */
static uint64_t time_run(const struct lane *l)
{
	char path[64];
	uint64_t ret = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", l->pid, l->tid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%" SCNu64, &ret) != 1)
		ret = 0;
	if (f)
		fclose(f);
	return ret;
}

/* Until when did calls begin that are open for certain? 0: none is. */
static uint64_t believed_until(struct sight *s)
{
	uint64_t before = s->l->looked, ran = s->l->ran, arg;
	raddr_t sp, pc;
	long nr;

	s->l->looked = s->now;
	s->l->ran = time_run(s->l);
	if (procfs_syscall(s->l->pid, s->l->tid, &nr, &arg, &sp, &pc) && nr >= 0 &&
	    nr != SYS_process_vm_readv)
		return s->now;
	return ran && s->l->ran >= ran + RUN_NS ? before : 0;
}

/* Is it for a condition to say whether its calls pass, once they end? */
static bool is_decided_late(const struct reader *r, uint32_t func)
{
	uint64_t off = load(&r->session->plans_off), size = load(&r->session->plans_size), at;
	const struct capture_plan *p;

	if (func >= load(&r->session->plans_funcs) || off > r->size || size > r->size - off ||
	    size < sizeof(*p) || func >= size / sizeof(uint32_t))
		return false;
	at = load((const uint32_t *)(r->map + off) + func) * 8ull;
	if (!at || at > size - sizeof(*p))
		return false;
	at = load(&((const struct capture_plan *)(r->map + off + at))->condition) * 8ull;
	return at && at <= size - MIN(size, sizeof(struct condition)) &&
		((const struct condition *)(r->map + off + at))->at_exit;
}

/* The begin of the pending call whose frame that is, if it has taken long enough; or 0. */
static uint64_t ripe(const struct sight *s, uint64_t offset, uint64_t frame, uint32_t *func)
{
	const struct side *side = (const struct side *)(s->r->sides +
		(uint64_t)s->index * TIMING_SIDES + SIDE_WORDS * offset);
	uint64_t begin = load(&side->begin), owner = load(&side->func);
	uint64_t sp = (frame | 7) + 1, mask = (1ull << SIDE_OWNER_BITS) - 1;

	*func = (uint32_t)(owner >> SIDE_OWNER_BITS);
	if ((frame & 7) != 8 - FRAME_PENDING || (owner & mask) != (sp >> 3 & mask) ||
	    *func >= s->r->nfuncs || is_decided_late(s->r, *func) || begin >= s->since ||
	    s->now - begin < s->least)
		return 0;
	return begin;
}

static void look_at_stack(const struct sight *s, uint32_t i, uint64_t top)
{
	static uint64_t frames[FRAMES_SPLIT / 8];
	struct range at = piece(i);
	size_t n = (top - at.start) / 8;
	bool there = false;

	if (top <= at.start || top >= at.end || top % 8 ||
	    !read_memory(s->l->pid, s->at + at.start + 8, frames, n * 8))
		return;
	for (size_t j = 0; j < n; j++) {
		uint32_t func;
		uint64_t begin = ripe(s, at.start + 8 + 8 * j, frames[j], &func);

		if (begin && !there) {
			/* What it has recorded up to now was read. */
			s->l->last = MAX(s->l->last, s->r->now);
			calls_stack(s->r, s->l, s->t.stacks[i].number);
		}
		there |= begin != 0;
		if (begin)
			calls_begun(s->r, s->l, func, begin);
	}
}

static void look_at_thread(struct sight *s)
{
	struct lane *l = s->l;
	bool any = l->nstacks != 0;
	uint32_t number = l->fiber ? l->fiber : any ? l->stacks[l->current].number : 0;

	/* All threads were stopped, and let out of our code, before the probes went. */
	s->since = s->r->last ? s->now : believed_until(s);
	if (!s->since)
		return;
	if (!read_memory(l->pid, s->at, &s->t, sizeof(s->t)) || s->t.magic != THREAD_MAGIC ||
	    s->t.tid != (uint64_t)load(&l->ring->tid))
		return;
	for (uint32_t i = 0; i < GOROUTINE_STACK && !s->r->err; i++) {
		const struct stack *k = &s->t.stacks[i];
		bool current = i == s->t.current;

		if (current || (k->used && k->number < STACK_LEAVES))
			look_at_stack(s, i, current ? s->t.top : k->top);
	}
	if (any && !s->r->err)
		calls_stack(s->r, l, number);
}

/* In the last pass a call that is open is so however short it has been. */
void pending_look(struct reader *r)
{
	uint64_t monotonic = clock_monotonic();
	struct sight s = { .r = r, .now = r->leaves ? r->leaves : r->now };
	uint64_t ticks = r->clock.run_ticks, ns = MAX(r->clock.run_ns, 1u);

	if (!r->sides || (!r->last && monotonic < r->next_pending))
		return;
	r->next_pending = monotonic + LOOK_NS;
	s.least = MAX(load(&r->session->least),
		      r->last ? 0 : (uint64_t)((double)LONG_NS * (double)ticks / (double)ns));
	for (uint32_t i = 0; i < r->nrings && !r->err; i++) {
		s.l = &r->lanes[i];
		s.index = i;
		s.at = load(&r->session->threads) + (uint64_t)i * THREAD_SIZE;
		if (s.l->claimed && !s.l->gone && !s.l->ready)
			look_at_thread(&s);
	}
}

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

#include <sys/syscall.h>
#include <sys/uio.h>

#include "injector/proc/procfs.h"
#include "values/condition.h"

#define load(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)

enum {
	LOOK_NS = 100000000, LONG_NS = 100000000, RUN_NS = 1000000,
	/* In the one pass over a session that goes on: so often at a thread that runs. */
	AGAIN = 20, AGAIN_NS = 5000000,
};

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

static bool read_memory(pid_t pid, raddr_t at, void *buf, size_t n)
{
	struct iovec here = { buf, n }, there = { (void *)at, n };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

/* At an offset of the session, where its own process has that. (What we have mapped may be a
 * copy of the rings alone.) */
static bool read_session(const struct sight *s, uint64_t off, void *buf, size_t n)
{
	return read_memory(s->l->pid, load(&s->r->session->base) + off, buf, n);
}

/* What is asked here of a plan. */
struct plan_head {
	uint32_t condition, number, renamed;
	uint16_t nentry;
};

static bool read_plan_head(const struct sight *s, uint32_t at, struct plan_head *ret)
{
	struct capture_plan p;

	if (!read_session(s, load(&s->r->session->plans_off) + at * 8ull, &p,
			  offsetof(struct capture_plan, plan.ops)))
		return false;
	*ret = (struct plan_head){ p.condition, p.number, p.renamed, p.plan.nentry };
	return true;
}

/* The piece of the frame table that stack i has. */
static struct range piece(uint32_t i)
{
	uint64_t start = i ? FRAMES_SPLIT + (i - 1) * (uint64_t)FRAMES_OTHER : FRAMES_OFF;

	return (struct range){ start, i ? start + FRAMES_OTHER : FRAMES_SPLIT };
}

/* Until when did calls begin that are open for certain? 0: none is. */
static uint64_t believed_until(struct sight *s)
{
	uint64_t runs = procfs_time_run(s->l->pid, s->l->tid);
	uint64_t before = s->l->looked, ran = s->l->ran, arg;
	raddr_t sp, pc;
	long nr;

	if (!before || !s->r->started) {
		s->l->looked = s->now;
		s->l->ran = runs;
	}
	if (procfs_syscall(s->l->pid, s->l->tid, &nr, &arg, &sp, &pc) && nr >= 0 &&
	    nr != SYS_process_vm_readv)
		return s->now;
	return ran && runs >= ran + RUN_NS ? before : 0;
}

/* A pending call. */
struct open {
	uint32_t func;
	uint64_t begin;		/* ticks */
	size_t depth;
	bool known;		/* what its entry has read can be told here: */
	const uint8_t *held;	/* so many bytes */
	size_t n;
};

/* Does it pass for certain, however it ends? What its entry alone tells is not known here. */
static bool passes(const struct sight *s, const struct condition *c, const struct open *o)
{
	struct condition_facts f = {
		.duration_ns = clock_ns(&s->r->clock, s->now - o->begin), .depth = o->depth,
		.tid = (uint32_t)s->l->tid, .pid = (uint32_t)s->l->pid,
	};

	return !c->samples && !(c->needs & (CONDITION_CPU | CONDITION_CALLER)) &&
		asked_open(s->r, s->l, c, o->held, o->n, &f);
}

/*
 * Is it at their end that its calls are told? So it is if a condition then says whether they pass,
 * or if it is not known here what was read of the call for it at its entry; and while more comes
 * if callers are taken, or arguments were read that cannot be told here: these are in its record
 * alone, which says no more of a call that has been told. What cannot be read may be so.
 */
static bool is_told_late(const struct sight *s, const struct open *o)
{
	uint32_t func = o->func;
	bool more = !s->r->last && !s->r->started;
	uint64_t list = load(&s->r->session->plans_off);
	uint64_t n = load(&s->r->session->plans_funcs);
	uint32_t at = 0, which;
	struct plan_head p;
	struct condition c;

	if (more && load(&s->r->session->callers_size))
		return true;
	if (func >= n)
		return false;
	if (!read_session(s, offsetof(struct session, plans_at), &which, sizeof(which)) ||
	    !read_session(s, list + (func + (which & 1 ? n : 0)) * sizeof(at), &at, sizeof(at)) ||
	    (at && !read_plan_head(s, at, &p)))
		return true;
	if (!at)
		return false;
	if (p.condition && (!o->known ||
			    !read_session(s, list + p.condition * 8ull, &c, sizeof(c)) ||
			    (c.at_exit && !passes(s, &c, o))))
		return true;
	return more && p.nentry && !o->n;
}

/* May its calls have ended unseen? */
static bool is_closed(const struct sight *s, uint32_t func)
{
	uint8_t gate;

	return !read_session(s, GATES_OFF + func, &gate, sizeof(gate)) || !gate;
}

static uint64_t sp_of(uint64_t frame)
{
	return (frame | 7) + 1;
}

/* Is that the frame of a pending call that has taken long enough? */
static bool is_ripe(const struct sight *s, const struct side *side, uint64_t frame)
{
	uint64_t mask = (1ull << SIDE_OWNER_BITS) - 1;
	uint32_t func = (uint32_t)(side->func >> SIDE_OWNER_BITS);

	return (frame & 7) == 8 - FRAME_PENDING &&
		(side->func & mask) == (sp_of(frame) >> 3 & mask) &&
		func < s->r->nfuncs && side->begin < s->since &&
		s->now - side->begin >= s->least && !is_closed(s, func);
}

/* What that call, on stack i, had read at its entry: *n bytes at `ret`, which has room for
 * READS_CAPTURE_MAX. False, and 0 bytes: nothing was kept, or it cannot be read, or told as it
 * stands. The side is at offset `at` of the session, and still the call's afterwards. */
static bool read_held(const struct sight *s, uint32_t i, const struct side *side, uint64_t at,
		      uint64_t frame, uint8_t *ret, size_t *n)
{
	uint64_t room = i ? CAPTURE_OTHER : CAPTURE_HELD, begin = (uint32_t)side->inner - 1ull;
	uint64_t off = load(&s->r->session->captures_off) + (uint64_t)s->index * CAPTURE_SIZE +
		CAPTURE_TAKEN + (i ? CAPTURE_HELD + (i - 1) * (uint64_t)CAPTURE_OTHER : 0) + begin;
	struct plan_head p;
	struct side after;
	struct held_call h;

	*n = 0;
	if (!(uint32_t)side->inner || begin % 8 || begin > room - sizeof(h) ||
	    !read_session(s, off, &h, sizeof(h)) || h.sp != sp_of(frame) ||
	    h.func != side->func >> SIDE_OWNER_BITS || h.n > READS_CAPTURE_MAX ||
	    h.n > room - sizeof(h) - begin || !read_plan_head(s, h.by.at, &p) ||
	    p.number != h.by.number || p.renamed ||
	    !read_session(s, off + sizeof(h), ret, h.n) ||
	    !read_session(s, at, &after, sizeof(after)) || after.begin != side->begin ||
	    after.func != side->func)
		return false;
	*n = h.n;
	return true;
}

/* A call is told as begun, with these bytes that were read of it; what the ring has said of the
 * next record is not of this one. */
static void tell_begun(const struct sight *s, uint32_t func, uint64_t begin, uint8_t *bytes,
		       size_t n)
{
	struct lane *l = s->l;
	uint8_t *capture = l->capture;
	size_t ncapture = l->ncapture;
	uint32_t captured = l->captured;
	bool called = l->called;

	l->capture = bytes;
	l->ncapture = n;
	l->captured = func;
	l->called = false;
	calls_begun(s->r, l, func, begin);
	l->capture = capture;
	l->ncapture = ncapture;
	l->captured = captured;
	l->called = called;
}

static void look_at_stack(const struct sight *s, uint32_t i, uint64_t top)
{
	static uint64_t frames[FRAMES_SPLIT / 8];
	static struct side sides[FRAMES_SPLIT / 8];
	static uint8_t held[READS_CAPTURE_MAX];
	struct range at = piece(i);
	size_t n = (top - at.start) / 8;
	uint64_t side_at = load(&s->r->session->sides_off) + (uint64_t)s->index * TIMING_SIDES +
		SIDE_WORDS * (at.start + 8);
	bool there = false;
	size_t first = n;

	if (top <= at.start || top >= at.end || top % 8 ||
	    !read_memory(s->l->pid, s->at + at.start + 8, frames, n * 8) ||
	    !read_session(s, side_at, sides, n * sizeof(*sides)))
		return;
	/* What is told later is taken for what is further in. */
	while (first && frames[first - 1] & 1)
		first--;
	for (size_t j = first; j < n; j++) {
		const struct side *side = &sides[j];
		struct open o = {
			.func = (uint32_t)(side->func >> SIDE_OWNER_BITS), .begin = side->begin,
			.depth = j + 1, .held = held,
		};

		if (!is_ripe(s, side, frames[j]))
			continue;
		o.known = read_held(s, i, side, side_at + j * sizeof(*side), frames[j], held, &o.n);
		if (is_told_late(s, &o))
			continue;
		/* What it has recorded up to now was read. */
		if (!there) {
			s->l->last = MAX(s->l->last, s->r->now);
			calls_stack(s->r, s->l, s->t.stacks[i].number);
		}
		there = true;
		tell_begun(s, o.func, o.begin, held, o.n);
	}
}

/* Could it be told what is open? */
static bool look_at_thread(struct sight *s)
{
	struct lane *l = s->l;
	bool any = l->nstacks != 0;
	uint32_t number = l->fiber ? l->fiber : any ? l->stacks[l->current].number : 0;

	/* All threads were stopped, and let out of our code, before the probes went. */
	s->since = s->r->last && !s->r->started ? s->now : believed_until(s);
	if (!s->since)
		return false;
	if (!read_memory(l->pid, s->at, &s->t, sizeof(s->t)) || s->t.magic != THREAD_MAGIC ||
	    s->t.tid != (uint64_t)load(&l->ring->tid))
		return true;
	for (uint32_t i = 0; i < GOROUTINE_STACK && !s->r->err; i++) {
		const struct stack *k = &s->t.stacks[i];
		bool current = i == s->t.current;

		/* What another thread has taken is its. */
		if (k->number < STACK_LEAVES && (current || k->used))
			look_at_stack(s, i, current ? s->t.top : k->top);
	}
	if (any && !s->r->err)
		calls_stack(s->r, l, number);
	return true;
}

/* How many threads are to be looked at again? */
static size_t look_at_all(struct sight *s)
{
	size_t ret = 0;

	for (uint32_t i = 0; i < s->r->nrings && !s->r->err; i++) {
		s->l = &s->r->lanes[i];
		s->index = i;
		s->at = load(&s->r->session->threads) + (uint64_t)i * THREAD_SIZE;
		if (!s->l->claimed || s->l->gone || s->l->ready || s->l->told)
			continue;
		lane_own(s->r, s->l);
		s->l->told = look_at_thread(s) && s->r->started;
		ret += !s->l->told;
	}
	return ret;
}

/* In the last pass a call that is open is so however short it has been. Of a session that goes on
 * there is one pass only: threads that run are looked at again in it. */
void pending_look(struct reader *r)
{
	const struct timespec pause = { .tv_nsec = AGAIN_NS };
	uint64_t monotonic = clock_monotonic();
	struct sight s = { .r = r, .now = r->leaves ? r->leaves : r->now };
	uint64_t ticks = r->clock.run_ticks, ns = MAX(r->clock.run_ns, 1u);

	/* (What a last drain has left comes before what is told here.) */
	if (!r->pending || (r->last ? r->cut : monotonic < r->next_pending))
		return;
	r->next_pending = monotonic + LOOK_NS;
	s.least = MAX(load(&r->session->least),
		      r->last ? 0 : (uint64_t)((double)LONG_NS * (double)ticks / (double)ns));
	for (int n = 0; look_at_all(&s) && r->started && n < AGAIN; n++)
		nanosleep(&pause, NULL);
	r->pending = !r->started;
}

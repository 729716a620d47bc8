/* SPDX-License-Identifier: MIT */
/*
 * callers: which callers has a call, up the stack?
 *
 * Runs inside the slow path, as values.c does, and reads memory as that does: a word is loaded
 * where it is certain to be mapped, and all else the kernel copies, here some KiB of the stack at
 * once, for the frames lie close to each other. So many copies are made at most. What is found is
 * not believed: a stack pointer goes up from frame to frame (but where a signal has interrupted,
 * and there are few of these), and each frame is one of at most CALLERS_MOST.
 */
#include "payload/payload.h"

enum {
	PIECE = 8192,		/* what the kernel copies at once */
	COPIES = 8,
	SIGNALS = 8,
	NESTED = 4,
	KNOWN = 512,		/* a power of 2 */
};

/* Where a row's rule is, by the address that is returned to. */
struct known {
	uint64_t pc;
	uint32_t changes;	/* of the tables, when it was found */
	uint32_t rule;		/* 0: no table tells */
};

struct walk {
	uint64_t pcs[CALLERS_MOST];
	uint32_t n, cut;
	uint64_t lo, hi;	/* addresses that `stack` is a copy of */
	struct known known[KNOWN];
	uint8_t stack[PIECE] __attribute__((aligned(16)));
};

_Static_assert(sizeof(struct walk) <= WALK_SIZE, "it has room");

/* A frame: what its registers hold. */
struct standing {
	uint64_t pc, sp, fp;
	uint64_t link;		/* the register that calls leave their return address in */
	bool fp_gone;
	bool chained;		/* fp was found by one */
	bool exact;		/* pc is that, and no return address */
};

struct walking {
	const struct session *s;
	const struct thread *t;
	struct walk *w;
	uint64_t sp, end;	/* of the call, and up to where its stack is mapped for certain;
				 * 0: not known */
	uint32_t copies, signals;
	struct standing at;
};

static const struct callers *callers_of(const struct session *s)
{
	return (const struct callers *)((const char *)s + s->callers_off);
}

static struct walk *walk_of(const struct session *s, const struct thread *t)
{
	static struct walk none;
	uint64_t index = observe(&t->index);

	return observe(&t->ring) ? (struct walk *)((char *)s + s->walks_off + index * WALK_SIZE) :
				   &none;
}

/* `n` things of `size` bytes at a place of the tables, all of them within, and aligned (arm64 has
 * no ordered load that is not: B2.8.2 of its manual); or NULL. */
static const void *within(const struct session *s, uint64_t at, uint64_t n, uint64_t size,
			  uint64_t align)
{
	if (at > s->callers_size || n > (s->callers_size - at) / size || at % align)
		return NULL;
	return (const char *)callers_of(s) + at;
}

static uint8_t whose(const struct session *s, uint64_t func)
{
	const struct callers *c = callers_of(s);
	const uint8_t *funcs = within(s, c->funcs_at, func + 1, sizeof(*funcs), 1);

	return funcs && func < c->funcs ? observe(&funcs[func]) : CALLERS_NONE;
}

/* ---- tables -------------------------------------------------------------- */

static const struct callers_module *module_at(const struct session *s, uint32_t changes,
					      uint64_t pc)
{
	const struct callers *c = callers_of(s);
	uint64_t list = c->lists_at + (changes & 1) * (uint64_t)c->most_modules *
			sizeof(struct callers_module);
	uint32_t lo = 0, hi = c->modules[changes & 1], i;
	const struct callers_module *m = within(s, list, hi, sizeof(*m), 8);

	if (!m)
		return NULL;
	while (lo < hi) {
		i = lo + (hi - lo) / 2;
		if (m[i].start <= pc)
			lo = i + 1;
		else
			hi = i;
	}
	/* A few bytes of one may be told otherwise: of a list that is not sorted any more it is not
	 * much that is looked at. */
	for (i = 0; i < NESTED && lo && pc >= m[lo - 1].end; i++)
		lo--;
	return lo && pc >= m[lo - 1].start && pc < m[lo - 1].end ? &m[lo - 1] : NULL;
}

/* Where the rule is for that place; 0: no table tells. */
static uint32_t rule_in(const struct session *s, const struct callers_module *m, uint64_t pc)
{
	uint32_t n = observe(&m->rows), lo = 0, hi = n, off = (uint32_t)(pc - m->start), rule;
	uint64_t at = observe(&m->rows_at);
	const uint32_t *rows = within(s, at, n, sizeof(*rows) + sizeof(uint16_t), 4);

	if (!rows)
		return 0;
	while (lo < hi) {
		uint32_t i = lo + (hi - lo) / 2;

		if (rows[i] <= off)
			lo = i + 1;
		else
			hi = i;
	}
	if (!lo)
		return 0;
	rule = ((const uint16_t *)(rows + n))[lo - 1];
	return rule < m->rules ? (uint32_t)(m->rules_at + rule * sizeof(struct callers_rule)) : 0;
}

/* Threads return to the same places again and again. */
static uint32_t find_rule(const struct walking *w, uint64_t pc)
{
	uint32_t changes = observe(&callers_of(w->s)->changes);
	struct known *k = &w->w->known[(pc ^ pc >> 9) % KNOWN];
	const struct callers_module *m;

	if (k->pc == pc && k->changes == changes)
		return k->rule;
	m = module_at(w->s, changes, pc);
	k->pc = pc;
	k->changes = changes;
	return k->rule = m ? rule_in(w->s, m, pc) : 0;
}

static struct callers_rule rule_at(const struct walking *w)
{
	uint32_t at = find_rule(w, w->at.pc - !w->at.exact);
	const struct callers_rule *rule = at ? within(w->s, at, 1, sizeof(*rule), 4) : NULL;

	return rule ? *rule : (struct callers_rule){ 0 };
}

/* ---- the stack ----------------------------------------------------------- */

static bool stop(const struct walking *w, enum callers_cut why)
{
	w->w->cut = why;
	return false;
}

static bool copy(struct walking *w, uint64_t at)
{
	size_t n;

	w->w->lo = w->w->hi = 0;
	if (w->copies++ == COPIES)
		return false;
	n = values_ask(w->s, w->t, at, w->w->stack, PIECE);
	w->w->lo = at;
	w->w->hi = at + (n <= PIECE ? n : 0);
	return true;
}

static bool is_copied(const struct walking *w, uint64_t at)
{
	return at >= w->w->lo && at < w->w->hi && w->w->hi - at >= sizeof(uint64_t);
}

/* A word of it. */
static bool load(struct walking *w, uint64_t at, uint64_t *ret)
{
	if (at % sizeof(*ret) || at > 1ull << CALLERS_ADDRESS_BITS)
		return stop(w, CALLERS_ODD);
	if (values_is_there(w->s, w->sp, at, sizeof(*ret)) || (at >= w->sp && at < w->end)) {
		*ret = *(const uint64_t *)at;
		return true;
	}
	if (!is_copied(w, at) && !(copy(w, at & ~15ull) && is_copied(w, at)))
		return stop(w, CALLERS_NO_MEMORY);
	*ret = *(const uint64_t *)(w->w->stack + (at - w->w->lo));
	return true;
}

/* ---- frames -------------------------------------------------------------- */

/* Is that a frame that the stack may have next? Where a frame has no room on it, as only what a
 * signal interrupts may, its return address is in a register. */
static bool go_on(struct walking *w, struct standing to)
{
	bool still = to.sp == w->at.sp && w->at.exact;

	if (!to.pc)
		return stop(w, CALLERS_WHOLE);
	if ((to.sp <= w->at.sp && !still) || to.sp % 8 || to.pc >> CALLERS_ADDRESS_BITS)
		return stop(w, CALLERS_ODD);
	w->at = to;
	return true;
}

/* What a signal has interrupted is as its frame has it. */
static bool step_signal(struct walking *w, const struct callers_rule *rule)
{
	struct standing to = { .exact = true };
	uint64_t sp = w->at.sp;

	if (w->signals++ == SIGNALS)
		return stop(w, CALLERS_ODD);
	if (!load(w, sp + (uint64_t)rule->cfa, &to.sp) ||
	    !load(w, sp + (uint64_t)rule->ra, &to.pc) ||
	    !load(w, sp + (uint64_t)rule->fp, &to.fp) ||
	    (rule->link && !load(w, sp + (uint64_t)rule->link, &to.link)))
		return false;
	if (!to.pc || to.pc >> CALLERS_ADDRESS_BITS || to.sp % 8)
		return stop(w, CALLERS_ODD);
	w->at = to;
	return true;
}

/* A frame pointer leads to the caller's, and beside it is the return address. */
static bool step_by_fp(struct walking *w)
{
	struct standing to = { .sp = w->at.fp + 16, .chained = true };

	if (w->at.fp_gone || w->at.fp % 8 || (w->at.fp && w->at.fp < w->at.sp))
		return stop(w, CALLERS_NO_TABLE);
	/* The chain's end; elsewhere it is any number. */
	if (!w->at.fp)
		return stop(w, w->at.chained || w->end ? CALLERS_WHOLE : CALLERS_NO_TABLE);
	if (!load(w, w->at.fp, &to.fp) || !load(w, w->at.fp + 8, &to.pc))
		return false;
	to.pc = cpu_plain(to.pc);
	return go_on(w, to);
}

static bool find_cfa(struct walking *w, const struct callers_rule *rule, uint64_t *ret)
{
	if (rule->base == CALLERS_PLT) {
		*ret = w->at.sp + ((w->at.pc & 15) >= (uint64_t)rule->cfa ? 16 : 8);
		return true;
	}
	if (rule->base == CALLERS_SP) {
		*ret = w->at.sp + (uint64_t)(int64_t)rule->cfa;
		return true;
	}
	if (w->at.fp_gone)
		return stop(w, CALLERS_NO_RULE);
	*ret = w->at.fp + (uint64_t)(int64_t)rule->cfa;
	return rule->base == CALLERS_FP || load(w, *ret, ret);
}

static bool step_by_rule(struct walking *w, const struct callers_rule *rule)
{
	struct standing to = { .fp = w->at.fp, .fp_gone = w->at.fp_gone };
	uint64_t from;

	if (!find_cfa(w, rule, &to.sp))
		return false;
	if (rule->flags & CALLERS_LINKED) {
		if (!w->at.exact)
			return stop(w, CALLERS_NO_RULE);
		to.pc = w->at.link;
	} else if (!load(w, to.sp + (uint64_t)(int64_t)rule->ra, &to.pc)) {
		return false;
	}
	from = rule->flags & CALLERS_FP_BY_FP ? w->at.fp : to.sp;
	if (rule->flags & CALLERS_FP_GONE)
		to.fp_gone = true;
	else if (!(rule->flags & CALLERS_FP_SAME) &&
		 !load(w, from + (uint64_t)(int64_t)rule->fp, &to.fp))
		return false;
	else if (!(rule->flags & CALLERS_FP_SAME))
		to.fp_gone = false;
	to.pc = cpu_plain(to.pc);
	return go_on(w, to);
}

static bool step(struct walking *w)
{
	struct callers_rule rule = rule_at(w);

	switch (rule.base) {
	case CALLERS_BY_FP:
		return step_by_fp(w);
	case CALLERS_END:
		return stop(w, CALLERS_WHOLE);
	case CALLERS_SIGNAL:
		return step_signal(w, &rule);
	case CALLERS_SP:
	case CALLERS_FP:
	case CALLERS_FP_AT:
	case CALLERS_PLT:
		return step_by_rule(w, &rule);
	}
	return stop(w, rule.cfa ? CALLERS_NO_TABLE : CALLERS_NO_RULE);
}

/* From where a function begins, or ends: the caller's frame is as it was left. `now` is the stack
 * pointer, below which nothing is kept: if the function has already pushed its caller's frame
 * pointer and has one of its own, that leads to it. */
static bool step_entry(struct walking *w, uint64_t now)
{
	struct standing to = w->at;

	to.exact = false;
	if (to.fp >= now && to.fp < w->at.sp && !load(w, to.fp, &to.fp))
		return false;
	to.pc = cpu_plain(to.link);
	to.sp = w->at.sp + CPU_PUSHED;
	if (CPU_PUSHED != 0 && !load(w, w->at.sp, &to.pc))
		return false;
	return go_on(w, to);
}

/* ---- a call -------------------------------------------------------------- */

/* So long as it goes on: `more` is whether it does from the call itself. */
static void walk(struct walking *w, bool more)
{
	uint32_t most = callers_of(w->s)->most;

	for (; more && w->w->n < most && w->w->n < CALLERS_MOST; more = step(w))
		w->w->pcs[w->w->n++] = w->at.pc | (w->at.exact ? CALLERS_EXACT : 0);
	if (more)
		w->w->cut = CALLERS_FULL;
}

unsigned int callers_take_moved(const struct session *s, const struct thread *t, uint64_t func,
				uint64_t sp, const uint64_t *held, uint64_t end)
{
	uint8_t of = s->callers_size ? whose(s, func) : CALLERS_NONE;
	struct walking w;

	if (of == CALLERS_NONE)
		return 0;
	/* (One by one: to clear it all may be a call of a library.) */
	w.s = s;
	w.t = t;
	w.w = walk_of(s, t);
	w.w->n = 0;
	w.w->lo = w.w->hi = 0;
	w.sp = w.at.sp = sp;
	w.end = end & ~7ull;
	w.copies = w.signals = 0;
	w.at.pc = 0;
	w.at.exact = true;
	w.at.fp_gone = w.at.chained = false;
	w.at.fp = cpu_frame_pointer(held);
	w.at.link = cpu_link(held);
	if (of != CALLERS_PLACE) {
		walk(&w, step_entry(&w, cpu_stack(held)));
	} else {
		w.at.pc = unwind_place(s, cpu_way_back(held));
		w.at.sp = cpu_stack(held) + CPU_ZONE;
		walk(&w, step(&w));
	}
	return 2 + w.w->n;
}

unsigned int callers_take(const struct session *s, const struct thread *t, uint64_t func,
			  uint64_t sp, const uint64_t *held)
{
	return callers_take_moved(s, t, func, sp, held, 0);
}

bool callers_moved(uint64_t func)
{
	const struct session *s = observe(&payload_session);

	return s && s->callers_size && whose(s, func) == CALLERS_MOVED;
}

/* Where the thread has outlived a session, another's memory may be where its own was. */
void callers_put(const struct session *s, struct thread *t, uint64_t func, unsigned int words)
{
	const struct walk *w = walk_of(s, t);
	uint64_t *p = ring_take(t, words);
	uint64_t cut = observe(&w->cut) & 0xff, at;
	unsigned int i;

	p[1] = (func << CALLERS_FUNC_SHIFT | cut << CALLERS_CUT_SHIFT | (words - 2)) <<
		REC_TIME_SHIFT;
	for (i = 2; i < words; i++) {
		at = i - 2 < CALLERS_MOST ? observe(&w->pcs[i - 2]) : 0;
		p[i] = (at & ~0ull >> REC_TIME_SHIFT ?: 1) << REC_TIME_SHIFT;
	}
	ring_give(t, p, REC_EXT | (uint64_t)EXT_CALLERS << REC_FUNC_SHIFT |
		  (words - 1ull) << REC_WORDS_SHIFT);
}

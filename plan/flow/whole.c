/* SPDX-License-Identifier: MIT */
/*
 * whole: which registers, and words of its frame, may hold something computed, at each
 * place of a function?
 *
 * A search backwards (flow_search.c) says more, but goes over much of a large function for each
 * question. This goes forward over all of it, once, and answers only yes or no: no is
 * that it is a whole word, which was passed, returned, loaded or named. What a search gives up on
 * is unknown unless this says that it is whole.
 *
 * Words of the frame are told apart by how far they are from where the stack pointer is at the
 * entry, whichever register reaches them (stack.c): the word there is the way back.
 */
#include <string.h>

#include "plan/flow/whole.h"

static bool is_computed(const struct state *s, int reg)
{
	return reg >= 0 && s->computed >> reg & 1;
}

/* What is innermost on the stack. */
static bool pops_computed(struct whole *w, const struct state *s)
{
	return whole_loads_computed(w, &(struct effect){ .memory = true, .base = (int8_t)w->sp,
							 .index = -1, .width = WORD }, s);
}

static bool sets_computed(struct whole *w, const struct effect *e, const struct state *s)
{
	switch (e->op) {
	case EFFECT_MOVE:
		return is_computed(s, e->base);
	case EFFECT_CUT:
		return is_computed(s, e->base) || w->body->impl->symbols->is_pie;
	case EFFECT_NUMBER:
	case EFFECT_RETURNED:
		return false;
	case EFFECT_POP:
		return pops_computed(w, s);
	case EFFECT_LOAD:
		return whole_loads_computed(w, e, s);
	case EFFECT_MAY_MOVE:
		return is_computed(s, e->base) || is_computed(s, e->reg);
	case EFFECT_MAY_LOAD:
		return whole_loads_computed(w, e, s) || is_computed(s, e->reg);
	case EFFECT_CODED:
		return is_computed(s, e->reg);
	case EFFECT_BACK:
		return whole_vector_words(s, e->vector & (VECTORS - 1)) & 1;
	}
	return true;
}

/* Something computed is in the frame: what is loaded from there may be that. */
static void note_frame(struct whole *w)
{
	w->again |= !w->frame && w->frame_asked;
	w->frame = true;
}

/* How many bytes are written: up to the way back, where it is not told how many. */
static size_t size_stored(struct whole *w, size_t step, const struct effect *e, int64_t at)
{
	size_t width = e->width ? e->width : WORD;
	uint64_t n = 1;

	if (e->count < 0 || at >= 0)
		return width;
	return flow_number(w->flow, step, e->count, &n) && n <= (uint64_t)-at / width ?
		n * width : (size_t)-at;
}

/* Which of the words that are written are computed? A part of one is none, if it is not known what
 * the rest was. */
static unsigned int words_stored(const struct effect *e, const struct state *s, bool computed)
{
	unsigned int words, ret = 0;

	if (e->computes)
		return VECTOR_ALL;
	if (e->stored < 0)
		return computed && (e->count >= 0 || e->width >= WORD) ? VECTOR_ALL : 0;
	words = whole_vector_words(s, e->stored & (VECTORS - 1));
	if (e->width < WORD)
		return 0;
	/* The last says what is above, too. */
	for (unsigned int i = 0; i < VECTOR_WORDS; i++)
		ret |= (words >> MIN(i + e->word, VECTOR_WORDS - 1u) & 1) << i;
	return ret;
}

/* An index says which of several words is written: the first of them, or the next. What was there
 * it may be, too. */
static void store_indexed(struct whole *w, size_t step, struct state *s, bool computed)
{
	struct effect first = *effect_at(w->flow, step);
	unsigned int words = words_stored(&first, s, computed);
	int64_t at;
	bits put = s->put;

	first.index = -1;
	if (!words || !stack_reaches(&first, &s->stack, &at))
		return;
	size_t size = MAX((size_t)first.width, (size_t)WORD) + (first.scale == WORD ? WORD : 0);

	w->by_others |= whole_put_slots(w, at, size, VECTOR_ALL, true, s);
	s->put = put;		/* what it returns by is not meant */
}

static void whole_store(struct whole *w, size_t step, struct state *s, bool computed)
{
	const struct effect *e = effect_at(w->flow, step);
	int64_t at;

	if ((computed || e->computes) && whole_is_somewhere(e, s))
		note_frame(w);
	/* Of a part that is computed with it is not known what the rest was; nor of a word that a
	 * call has returned, and that is written over the way back, whether it is made of that. */
	w->stores |= e->base == w->sp && (e->computes || computed);
	if (e->index >= 0 && !e->thread)
		store_indexed(w, step, s, computed);
	if (!stack_reaches(e, &s->stack, &at) && !whole_is_lost(w, e, s))
		return;
	bits *by = e->base == w->sp ? &w->by_stack :
		e->base == w->fp ? &w->by_frame : &w->by_others;

	if (!stack_is_known(&s->stack, e->base))
		at = INT32_MAX;
	size_t size = size_stored(w, step, e, at);

	if (s->high != STACK_NOT)
		*by |= whole_put_over(w, at + (int64_t)size, e->computes || computed, s);
	unsigned int words = words_stored(e, s, computed);

	if (e->stored >= 0 && at != INT32_MAX)
		words = whole_words_copied(w, step, at, size, s, words);
	bool returned = at == 0 && e->source >= 0 && s->returned >> e->source & 1;

	*by |= whole_put_slots(w, at, size, returned ? VECTOR_ALL : words,
			       e->count >= 0 || s->stack.some >> e->base & 1, s);
}

/* What is stored, or pushed. */
static bool is_source_computed(struct whole *w, const struct effect *e, const struct state *s)
{
	if (e->source >= 0)
		return is_computed(s, e->source);
	if (e->copied >= 0)
		return s->stack.at[e->copied] != STACK_NOT && whole_frame(w);
	if (e->writes)
		return false;
	if (!e->pushes)		/* a vector, or a part of one */
		return e->stored >= 0 && whole_vector_words(s, e->stored & (VECTORS - 1));
	/* Of memory; or flags, say. */
	struct effect load = *e;

	load.width = WORD;
	return !e->memory || (!whole_is_lost(w, e, s) && whole_loads_computed(w, &load, s));
}

/* The stack pointer is set to something that is no known address of this stack. */
static void change_stack(struct whole *w, struct state *s, bool buried)
{
	s->stack.at[w->sp] = STACK_ANEW;
	s->buried = buried;
	for (size_t i = 0; i < w->nslots; i++)
		if (w->slots[i] > STACK_ANEW / 2) {
			s->put &= ~whole_bit(i);
			s->pushed &= ~whole_bit(i);
			s->computed &= ~whole_bit(i);
		}
}

/* To something else than what it was, and a number. */
static bool sets_stack(const struct whole *w, const struct effect *e)
{
	return e->others >> w->sp & 1 ||
		(e->reg == w->sp && (e->op != EFFECT_SUM || e->base != w->sp || e->index >= 0));
}

static void whole_push(struct whole *w, struct state *s, bool computed)
{
	w->pushes |= computed;
	if (computed)
		note_frame(w);
	if (!stack_is_known(&s->stack, w->sp)) {
		if (s->high != STACK_NOT)
			w->by_stack |= whole_put_over(w, INT32_MAX, computed, s);
		change_stack(w, s, true);
	}
	for (size_t i = 0; i < w->nslots; i++)
		if (w->slots[i] == s->stack.at[w->sp] - WORD)
			s->pushed |= whole_bit(i);
	if (s->high != STACK_NOT)
		w->by_stack |= whole_put_over(w, s->stack.at[w->sp], computed, s);
	w->by_stack |= whole_put_slots(w, s->stack.at[w->sp] - WORD, WORD,
				       computed ? VECTOR_ALL : 0, false, s);
}

static void pass_returned(const struct effect *e, struct state *s)
{
	bool returned = e->op == EFFECT_RETURNED ||
		(e->op == EFFECT_MOVE && s->returned >> e->base & 1);

	s->returned &= ~(uint32_t)e->others;
	if (e->reg >= 0)
		s->returned = returned ? s->returned | 1u << e->reg :
			s->returned & ~(1u << e->reg);
}

/* The same, of what rounds something, or where something was. */
__attribute__((noinline))
static void pass_rounded(struct whole *w, const struct effect *e, struct state *s)
{
	uint32_t rounds = e->others & e->changes;
	int32_t high = whole_high(s, w->sp), most = STACK_NOT;
	uint16_t others = whole_rounds(w, rounds, s, &most);

	stack_pass(w->flow->arch, e, &s->stack);
	/* One that is rounded is this one, and there may be nothing between. */
	if (sets_stack(w, e) && !stack_is_known(&s->stack, w->sp)) {
		change_stack(w, s, rounds >> w->sp & 1);
		s->high = s->buried ? high : STACK_NOT;
	}
	s->stack.some |= others;
	s->high = MAX(s->high, most);
	for (; others; others &= (uint16_t)(others - 1))
		s->stack.at[__builtin_ctz(others)] = STACK_ANEW;
}

static void pass_stack(struct whole *w, const struct effect *e, struct state *s)
{
	if (e->others & e->changes || s->high != STACK_NOT) {
		pass_rounded(w, e, s);
		return;
	}
	stack_pass(w->flow->arch, e, &s->stack);
	if (sets_stack(w, e) && !stack_is_known(&s->stack, w->sp))
		change_stack(w, s, false);
}

void whole_pass(struct whole *w, size_t step, struct state *s)
{
	const struct insn *in = &w->body->steps[step].insn;
	const struct effect *e = effect_at(w->flow, step);
	bool computed = e->reg >= 0 && sets_computed(w, e, s), stored = false;

	if (w->vectors)
		whole_pass_vectors(w, step, e, s);
	if (e->op == EFFECT_SWAP) {
		computed = is_computed(s, e->reg);
		whole_put(s, 1ull << e->reg, is_computed(s, e->base));
		whole_put(s, 1ull << e->base, computed);
		stack_pass(w->flow->arch, e, &s->stack);
		return;
	}
	if (e->stores || e->pushes)
		stored = e->pops ? pops_computed(w, s) : is_source_computed(w, e, s);
	if (e->stores && !e->pops)
		whole_store(w, step, s, stored);
	if (e->pushes)
		whole_push(w, s, stored);
	if (e->op == EFFECT_RETURNED)
		whole_put(s, 1ull << w->flow->arch->second, false);
	pass_returned(e, s);
	s->computed |= e->others;
	if (e->leaves)
		whole_put(s, 1ull << w->fp, false);
	if (e->reg >= 0)
		whole_put(s, 1ull << e->reg, computed);
	pass_stack(w, e, s);
	if (e->stores && e->pops)
		whole_store(w, step, s, stored);
	if (s->stack.at[w->sp] == STACK_LOST && in->kind == INSN_BRANCH)
		whole_find_stack(w, step + 1, &s->stack);
}

/* What was found at a place before says all of what comes there now, too. */
static bool adds_nothing(const struct state *to, const struct state *from)
{
	return !((from->computed & ~to->computed) | (from->put & ~to->put) |
		 (from->pushed & ~to->pushed)) &&
		!(from->vectors & ~to->vectors) && !(from->returned & ~to->returned) &&
		to->guessed == from->guessed && to->buried >= from->buried &&
		to->high >= from->high &&
		!memcmp(&to->stack, &from->stack, sizeof(to->stack));
}

static void note_news(struct whole *w, const struct state *s)
{
	bit_set(w->news, (uint64_t)(s - w->states));
	w->changed = true;
}

static void whole_join(struct whole *w, struct state *to, const struct state *from)
{
	if (!to->reached) {
		const uint32_t step = to->step;

		*to = *from;
		to->step = step;
		to->reached = true;
		note_news(w, to);
		return;
	}
	if (adds_nothing(to, from))
		return;
	struct state old = *to;

	to->computed |= from->computed;
	to->put |= from->put;
	to->pushed |= from->pushed;
	to->vectors |= from->vectors;
	to->returned |= from->returned;
	/* What is known stays, whatever is guessed: to lose it would cost coverage. */
	if (to->guessed && !from->guessed)
		to->stack = from->stack;
	else if (to->guessed == from->guessed)
		stack_join(w->flow->arch, &to->stack, &from->stack);
	if (to->stack.at[w->sp] == STACK_LOST && old.stack.at[w->sp] != STACK_LOST)
		whole_note_lost(w, to->step);
	to->guessed &= from->guessed;
	to->buried |= from->buried;
	to->high = MAX(to->high, from->high);
	if (to->computed != old.computed || to->put != old.put || to->pushed != old.pushed ||
	    to->vectors != old.vectors || to->buried != old.buried || to->high != old.high ||
	    to->returned != old.returned || memcmp(&to->stack, &old.stack, sizeof(old.stack)))
		note_news(w, to);
}

static void join_at(struct whole *w, size_t step, const struct state *s)
{
	if (step < w->body->nsteps && w->at[step])
		whole_join(w, &w->states[w->at[step]], s);
}

/* Control arrives otherwise: at what an exception leads to, or at a label. Registers hold what the
 * body's own jumps leave there. Where the stack is the file tells; else the way does that comes to
 * it within the body, unless control never comes by that one; last those jumps do. */
static void arrive(struct whole *w, size_t step)
{
	struct state s = w->anywhere, *at = &w->states[w->at[step]];
	bool waits = w->flow->led[step] > 1 || (!w->body->unowned && w->flow->nleavers);

	if (!at->reached && waits && !w->late) {
		w->waits = true;
		return;
	}
	int32_t left = s.stack.at[w->sp];
	bool told = whole_tell_stack(w, step, &s.stack);

	s.guessed = !at->reached || at->guessed;
	/* Of a register of which two ways tell otherwise nothing would be known. */
	if (at->reached)
		s.stack = at->stack;
	if (at->reached && at->guessed && !told && w->left)
		s.stack.at[w->sp] = left;
	whole_join(w, at, &s);
}

/* A call of the body's own: what is called has the registers as they are before it, its way back,
 * and a frame of its own, above which is this one; or it is where the call comes back to, and the
 * way back is left there. */
static void call_own(struct whole *w, size_t step, const struct state *from)
{
	size_t to = flow_led_to(w->flow, step);

	if (to == w->body->nsteps)
		return;
	struct state s = *from;

	if (to == step + 1) {
		whole_push(w, &s, false);
		s.stack.at[w->sp] -= stack_is_known(&s.stack, w->sp) ? WORD : 0;
	} else {
		stack_begin(w->flow->arch, &s.stack);
		change_stack(w, &s, true);
		s.put |= whole_slot(w, STACK_ANEW);
	}
	if (to)
		join_at(w, to, &s);
}

/* Where control goes from this step other than on. */
static void lead_on(struct whole *w, size_t step, const struct state *s)
{
	const struct step *st = &w->body->steps[step];

	if (st->insn.dest && st->insn.kind != INSN_CALL)
		join_at(w, flow_led_to(w->flow, step), s);
	if (w->flow->leads[step]) {
		for (size_t i = 0; i < w->flow->nlinks; i++)
			if (w->flow->links[i].step == step)
				join_at(w, w->flow->links[i].at, s);
	}
}

static bool is_top_computed(struct whole *w, size_t step, const struct state *s)
{
	int64_t at;

	return !whole_find_top(w, step, s, &at) || whole_slot_computed(w, at, s);
}

/* What control goes by at this step. */
bool whole_goes_by_computed(struct whole *w, size_t step, const struct state *s)
{
	const struct plan_impl *p = w->body->impl;
	const struct step *st = &w->body->steps[step];
	const struct insn *in = &st->insn;
	struct effect e;
	size_t left;

	if (st->by_thunk)
		return is_computed(s, st->by_thunk - 1);
	if (in->flags & INSN_BY_REGISTER)
		return is_computed(s, p->arch->goes_by(symbols_text(p->symbols, in->pc, &left),
						       in));
	e = *effect_at(w->flow, step);
	e.width = WORD;
	return e.memory ? whole_loads_computed(w, &e, s) : is_top_computed(w, step, s);
}

/* Where a jump by an address leaves the stack it is where that leads. What has no frame any more
 * leaves the function, unless no other jump has one. Code of no function has many functions' jumps:
 * of all that only counts which registers have addresses of the stack, and that it is moved. */
static void leave_stack(struct whole *w, const struct stack *s)
{
	struct stack *a = &w->anywhere.stack;
	bool framed = a->at[w->sp], frames = s->at[w->sp];

	if (w->body->unowned) {
		for (int i = 0; i < REGISTERS; i++)
			if (i != w->sp && s->at[i] != STACK_NOT)
				a->at[i] = STACK_LOST;
		w->again |= frames && !w->moved;
		w->moved |= frames;
		return;
	}
	if (!w->left || (frames && !framed))
		*a = *s;
	else if (frames == framed)
		stack_join(w->flow->arch, a, s);
	w->left = true;
}

/* What its registers hold here they hold wherever it leads. */
static void leave_anywhere(struct whole *w, const struct state *s)
{
	struct state *a = &w->anywhere, old = *a;

	a->computed |= s->computed;
	a->put |= s->put;
	a->pushed |= s->pushed;
	a->vectors |= s->vectors;
	leave_stack(w, &s->stack);
	w->changed |= a->computed != old.computed || a->put != old.put ||
		a->pushed != old.pushed || a->vectors != old.vectors ||
		memcmp(&a->stack, &old.stack, sizeof(old.stack));
}

/* Does control leave by an address there, or return by a jump? A word of which nothing is asked
 * takes room, and time. */
static bool may_leave(const struct whole *w, size_t step)
{
	const struct insn *in = &w->body->steps[step].insn;

	return in->kind != INSN_PLAIN && in->kind != INSN_BRANCH && in->kind != INSN_CALL &&
		(in->kind != INSN_JUMP || !w->flow->to[step]);
}

/* The next step, behind a state, before which something may be new: what comes before it says what
 * it has said. */
static size_t next_news(const struct whole *w, size_t place)
{
	uint64_t left = ~(uint64_t)0 << (place & 63) << 1;

	for (size_t i = place / 64; i <= w->nstates / 64; i++, left = ~(uint64_t)0) {
		left &= w->news[i] | w->fixed[i];
		if (left)
			return w->states[64 * i + (size_t)__builtin_ctzll(left)].step;
	}
	return w->body->nsteps;
}

/* What is known where a state is kept, if `s` falls in. Where no ways meet it is kept only to be
 * found near by. */
static void enter_place(struct whole *w, size_t step, size_t place, struct state *s)
{
	struct state *at = &w->states[place];
	bool meets = !step || w->flow->led[step];

	if (s->reached && !meets) {
		s->step = at->step;
		*at = *s;
	} else {
		if (s->reached && !whole_never_comes_back(w, step, s))
			whole_join(w, at, s);
		if (bit_get(w->fixed, place))
			arrive(w, step);
		*s = *at;
		s->reached = bit_get(w->news, place);
	}
	bit_clear(w->news, place);
}

/* What comes behind a place where ways meet is gone through again only if something has changed
 * there: else it would say the same again. */
static void go_through(struct whole *w)
{
	const struct body *b = w->body;
	const struct flow *f = w->flow;
	struct state s = { .reached = false };
	size_t leaver = 0, place = 0;

	for (size_t i = 0; i < b->nsteps; i++) {
		if (i && (b->steps[i - 1].piece != b->steps[i].piece || b->steps[i - 1].ends))
			s.reached = false;
		if (w->at[i]) {
			place = w->at[i];
			enter_place(w, i, place, &s);
		}
		if (!s.reached) {
			i = next_news(w, place) - 1;
			continue;
		}
		while (leaver < f->nleavers && f->leavers[leaver] < i)
			leaver++;
		bool leaves = leaver < f->nleavers && f->leavers[leaver] == i;

		if (leaves && !f->leads[i])
			leave_anywhere(w, &s);
		if (may_leave(w, i))
			(void)whole_goes_by_computed(w, i, &s);	/* it is asked for */
		if (b->steps[i].insn.kind == INSN_CALL && b->steps[i].insn.dest)
			call_own(w, i, &s);
		whole_pass(w, i, &s);
		lead_on(w, i, &s);
		stack_equal(w->flow, i, &s.stack);
		if (b->steps[i].insn.kind == INSN_CALL && b->steps[i].insn.dest &&
		    flow_led_to(f, i) == i + 1)
			s.reached = false;
	}
}

void whole_go_again(struct whole *w)
{
	for (size_t i = 0; i <= w->nstates; i++)
		if (w->states[i].reached)
			bit_set(w->news, i);
	w->changed = true;
}

/* Until nothing changes. Of a slot that is asked for first only now, all that was written to it
 * is to be seen, too. 0; 1: it comes to no answer. */
int whole_rest(struct whole *w)
{
	for (int round = 0; w->changed; round++) {
		size_t n = w->nslots;

		w->again = false;
		/* One that does not come to rest has nothing that is certain. */
		if (round == ROUNDS)
			return 1;
		w->changed = false;
		go_through(w);
		w->again |= w->nslots != n;
		if (w->again)
			whole_go_again(w);
		if (!w->changed && w->waits && !w->late)
			w->late = w->changed = true;
	}
	return 0;
}

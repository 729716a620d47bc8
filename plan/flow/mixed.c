/* SPDX-License-Identifier: MIT */
/*
 * mixed: where does a function compute with an address of code that it names?
 *
 * A search backwards (flow_goal.c) says what comes of a sum, if it comes to where its parts are
 * named. This goes forward over all of the function, as whole.c does, and says where that is to
 * be asked: at each step, which registers, vectors and words of memory may hold an address of
 * code that was named, or what was computed from one, on some way. The first instruction that
 * computes with one is told, whatever it is: what no rule knows may lead anywhere.
 *
 * The start of a function is passed and compared everywhere, and compilers leave it in registers
 * that they have no more use for: of that it is told only where it is one by all ways, and all of
 * it is computed with. Any other address of code is a label, whose registers hardly ever come to
 * be used otherwise: one way is enough, and half of it.
 */
#include <errno.h>

#include "plan/arrivals.h"
#include "plan/flow/mixed.h"

enum { ROUNDS = 64 };

static bool is_away(int32_t depth)
{
	return depth >= AWAY / 2;
}

static int32_t depth_both(int32_t a, int32_t b)
{
	if (a == b || b == ELSEWHERE || (is_away(b) && !is_away(a) && a > ELSEWHERE))
		return a;
	return a == ELSEWHERE || (is_away(a) && !is_away(b) && b > ELSEWHERE) ? b : LOST;
}

static void mixed_join(struct mixed *m, struct mixed_state *to, const struct mixed_state *from)
{
	const uint64_t label = to->label, start = to->start, parts = to->parts;
	const int32_t depth = to->depth, frame = to->frame;
	const uint16_t known = to->known;

	if (!to->reached) {
		*to = *from;
		to->reached = to->news = m->changed = true;
		return;
	}
	to->label |= from->label;
	/* A start counts only if it is one by all ways, or there is a label by others. */
	to->start &= from->start | from->label;
	to->start |= from->start & label;
	to->parts |= from->parts;
	to->known &= from->known;
	for (unsigned int left = to->known; left; left &= left - 1) {
		int reg = __builtin_ctz(left);
		uint16_t bit = (uint16_t)(1u << reg);

		if (to->number[reg] != from->number[reg] || (to->named ^ from->named) & bit ||
		    (to->stacked ^ from->stacked) & bit)
			to->known &= (uint16_t)~bit;
	}
	to->depth = depth_both(to->depth, from->depth);
	to->frame = depth_both(to->frame, from->frame);
	to->parts &= to->label | to->start;
	if (to->label != label || to->start != start || to->parts != parts ||
	    to->known != known || to->depth != depth || to->frame != frame)
		to->news = m->changed = true;
}

static void join_at(struct mixed *m, size_t step, const struct mixed_state *s)
{
	if (step < m->flow->body->nsteps && m->at[step])
		mixed_join(m, &m->states[m->at[step] - 1], s);
}

/* Where control arrives otherwise it comes from the body's own jumps, from calls that an exception
 * leaves, and from elsewhere. */
static struct mixed_state state_away(const struct mixed *m, size_t step,
				     const struct mixed_state *s)
{
	const struct plan_impl *p = m->flow->body->impl;
	const struct step *st = &m->flow->body->steps[step];
	struct mixed_state away = *s;
	size_t left;
	int reg = st->insn.kind != INSN_JUMP_INDIRECT ? -1 :
		p->arch->goes_by(symbols_text(p->symbols, st->insn.pc, &left), &st->insn);

	/* What it goes by is judged there. */
	if (reg >= 0) {
		away.label &= ~(1ull << reg);
		away.start &= ~(1ull << reg);
	}

	if (st->insn.kind == INSN_CALL || st->insn.kind == INSN_CALL_INDIRECT) {
		uint64_t kept = p->arch->kept | ~((1ull << FIRST_WORD) - 1);

		away.label &= kept;
		away.start &= kept;
		away.known &= (uint16_t)p->arch->kept;
	}
	return away;
}

static bool is_leaver(const struct flow *f, size_t step, size_t *leaver)
{
	while (*leaver < f->nleavers && f->leavers[*leaver] < step)
		++*leaver;
	return *leaver < f->nleavers && f->leavers[*leaver] == step &&
		f->leads[step] != LEADS_BY_SWITCH;
}

/* A return that goes by what the body has put. Code of no function has many that may. */
static bool is_goto(struct flow *f, size_t step)
{
	return f->backs && !f->body->unowned && f->body->steps[step].insn.kind == INSN_RETURN &&
		flow_has_put(f, step, 0);
}

/* A call of the body's own: what is called has the registers as they are before it, and one word
 * more on the stack; or it is the body from its start on, with a frame of its own. */
static void call_own(struct mixed *m, size_t to, const struct mixed_state *from)
{
	struct mixed_state s = *from;
	uint64_t frame = 0;

	for (size_t i = 0; i < m->nwords && !to; i++)
		frame |= m->words[i].base == m->sp ? 1ull << (FIRST_WORD + i) : 0;
	s.label &= ~frame;
	s.start &= ~frame;
	s.known &= to ? s.known : (uint16_t)~s.stacked;
	if (!to)
		s.depth = 0, s.frame = LOST;
	else if (s.depth > ELSEWHERE && s.depth <= INT32_MAX - 8)
		s.depth += 8;
	join_at(m, to, &s);
}

static void lead_on(struct mixed *m, size_t step, size_t *leaver, const struct mixed_state *s)
{
	struct flow *f = m->flow;
	const struct step *st = &f->body->steps[step];

	if (st->insn.dest && st->insn.kind != INSN_CALL)
		join_at(m, flow_led_to(f, step), s);
	for (size_t i = 0; i < f->nlinks && f->leads[step] == LEADS_BY_SWITCH; i++)
		if (f->links[i].step == step)
			join_at(m, f->links[i].at, s);
	if (is_leaver(f, step, leaver) || is_goto(f, step)) {
		struct mixed_state away = state_away(m, step, s);

		mixed_join(m, &m->anywhere, &away);
	}
}

static bool begins_anew(const struct mixed *m, size_t step)
{
	const struct step *s = &m->flow->body->steps[step];

	return !step || m->flow->led[step] || s[-1].piece != s->piece || s[-1].ends;
}

/* What is known where ways meet, or a way begins, if `s` comes from the step before. */
static void mixed_enter(struct mixed *m, const struct place *p, struct mixed_state *at,
			struct mixed_state *s)
{
	if (p->fixed)
		mixed_join(m, at, &m->anywhere);
	if (p->falls && s->reached)
		mixed_join(m, at, s);
	*s = *at;
	s->reached = s->news;
	if (s->depth == ELSEWHERE)
		s->depth = AWAY;
	at->news = false;
}

static void go_through(struct mixed *m)
{
	const struct body *b = m->flow->body;
	struct mixed_state s = { .reached = false };
	size_t leaver = 0, place = 0;

	for (size_t i = 0; i < b->nsteps; i++) {
		if (m->at[i]) {
			mixed_enter(m, &m->places[place], &m->states[place], &s);
			place++;
		}
		if (!s.reached) {	/* nor is what follows, up to the next place */
			i = m->places[place].step - 1;
			continue;
		}
		size_t called = b->steps[i].insn.kind == INSN_CALL && b->steps[i].insn.dest ?
			flow_led_to(m->flow, i) : b->nsteps;

		bool parts = b->steps[i].insn.kind == INSN_RETURN &&
			s.parts & s.label & 1u << m->flow->arch->returned;

		if (called < b->nsteps)
			call_own(m, called, &s);
		mixed_pass(m, i, &s);
		m->made[i] = (struct made){ m->place, parts ? MIXES_LABEL : m->found };
		lead_on(m, i, &leaver, &s);
		/* What a call of the next instruction pushes is still there. */
		s.reached = called != i + 1;
	}
}

/* Room for a state of each place where a way begins; behind the last place are no more. */
static int make_states(struct mixed *m)
{
	const struct body *b = m->flow->body;

	m->at = calloc(b->nsteps + 1, sizeof(*m->at));
	for (size_t i = 0; m->at && i < b->nsteps; i++)
		if (begins_anew(m, i))
			m->at[i] = (uint32_t)++m->nstates;
	m->states = calloc(m->nstates + 1, sizeof(*m->states));
	m->places = calloc(m->nstates + 1, sizeof(*m->places));
	m->made = calloc(b->nsteps + 1, sizeof(*m->made));
	if (!m->at || !m->states || !m->places || !m->made)
		return -ENOMEM;
	for (size_t i = 0; i < b->nsteps; i++) {
		const struct step *s = &b->steps[i];

		if (m->at[i])
			m->places[m->at[i] - 1] = (struct place){
				(uint32_t)i, i && ground_comes_to(b->impl, &s->insn),
				i && s[-1].piece == s->piece && !s[-1].ends };
	}
	m->places[m->nstates].step = (uint32_t)b->nsteps;
	return 0;
}

/* What no way leads to that is known is come to from elsewhere. */
static void reach_rest(struct mixed *m)
{
	const struct mixed_state rest = { .depth = m->anywhere.depth, .frame = m->anywhere.frame,
					  .reached = true };

	for (size_t i = 0; i < m->nstates; i++)
		if (!m->states[i].reached)
			mixed_join(m, &m->states[i], &rest);
}

int flow_mixed(struct flow *f, bool takes, struct mixed **ret)
{
	struct mixed *m = *ret = calloc(1, sizeof(*m));

	if (m)
		*m = (struct mixed){ .flow = f, .sp = f->arch->stack, .fp = f->arch->frame };
	if (!m || make_states(m))
		return fail(ENOMEM, "plan %s", f->body->func->name);
	m->anywhere = (struct mixed_state){ .depth = ELSEWHERE, .frame = ELSEWHERE,
					    .reached = true };
	m->states[0] = (struct mixed_state){ .frame = LOST, .reached = true, .news = true };
	/* Its way back is a place of the function that calls it. */
	if (takes) {
		m->words[m->nwords++] = (struct slot){ 0, m->sp };
		m->states[0].label = 1ull << FIRST_WORD;
	}
	m->changed = f->body->nsteps;
	for (int round = 0; m->changed && round < ROUNDS; round++) {
		m->changed = false;
		go_through(m);
		if (!m->changed)
			reach_rest(m);
	}
	return 0;
}

void flow_mixed_free(struct mixed *m)
{
	if (m) {
		free(m->at);
		free(m->states);
		free(m->places);
		free(m->made);
	}
	free(m);
}

enum mixes mixed_made(const struct mixed *m, size_t step, raddr_t *place)
{
	*place = m->made[step].place;
	return m->made[step].what;
}

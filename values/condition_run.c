/* SPDX-License-Identifier: MIT */
/*
 * condition_run: does a call pass? Each index is bounded where it is used, for the program may
 * have written over the condition, and over what was read, since they were checked.
 *
 * A number on the stack is known (CONDITION_TRUE beside it), unknown or open (CONDITION_ANY).
 * Floats are compared as integers: each is widened exactly to the bits of IEEE 754's binary128.
 *
 * Terms that take much of the stack, and are rare, are kept out of what calls them.
 */
#include "values/condition_compute.h"

#define KEPT_OUT __attribute__((noinline)) static

enum { NOTHING = 0, KNOWN = CONDITION_TRUE, UNORDERED = 2 };

struct running {
	const struct condition *c;
	const struct reads_state *s;
	const struct condition_facts *f;
	bool at_exit;
};

/* Bytes of a text: it goes on behind them if it is not whole. */
struct bytes {
	const uint8_t *p;
	uint32_t n;
	bool whole;
};

struct unaligned {
	uint64_t v;
} __attribute__((packed, may_alias));

static uint8_t as_set(bool is)
{
	return is ? CONDITION_TRUE : CONDITION_FALSE;
}

/* Of what depends on two numbers. */
static uint8_t both_known(uint8_t a, uint8_t b)
{
	return a == KNOWN && b == KNOWN ? KNOWN :
		a == CONDITION_UNKNOWN || b == CONDITION_UNKNOWN ? CONDITION_UNKNOWN :
		CONDITION_ANY;
}

/* ---- what was read ------------------------------------------------------- */

/* The bytes of a result from `at` on; NULL if it has none of them. */
static const uint8_t *result_bytes(const struct reads_state *s, uint8_t index, uint32_t at,
				   uint32_t *n, uint8_t *status)
{
	uint32_t start, all;

	if (index >= READS_MAX || !s->v[index].done || s->v[index].status == READ_NOT)
		return NULL;
	start = s->v[index].at;
	all = s->v[index].n;
	if (at > all || start + all > READS_CAPTURE_MAX)
		return NULL;
	*n = all - at;
	*status = s->v[index].status;
	return s->capture + start + at;
}

static uint64_t load(const uint8_t *p, uint32_t n)
{
	uint64_t v = 0;
	uint32_t i;

	if (n == 8)
		return ((const struct unaligned *)p)->v;
	for (i = 0; i < n && i < 8; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

/* The bytes of a number or float; NULL, and why not. */
static const uint8_t *operand(const struct running *r, uint8_t index, uint8_t form, uint16_t at,
			      uint32_t n, uint8_t *state)
{
	const uint8_t *p;
	uint32_t have;
	uint8_t status;

	*state = KNOWN;
	if (form & FORM_POOL)
		return at <= CONDITION_POOL - n ? r->c->pool + at : NULL;
	*state = form & FORM_AT_EXIT && !r->at_exit ? CONDITION_ANY : CONDITION_UNKNOWN;
	if (*state == CONDITION_ANY)
		return NULL;
	p = result_bytes(r->s, index, at, &have, &status);
	if (!p || have < n)
		return NULL;
	*state = KNOWN;
	return p;
}

static uint64_t value_of(const struct running *r, const struct condition_op *o, uint8_t *state)
{
	uint32_t n = o->form & FORM_SIZE, bits = o->bits, shift = o->shift;
	const uint8_t *p = operand(r, o->index, o->form, o->at, n, state);
	uint64_t v = p ? load(p, n) : 0;

	if (!p || !bits || shift + bits > 64)
		return 0;
	v <<= 64 - shift - bits;
	return o->form & FORM_SIGNED ? (uint64_t)((int64_t)v >> (64 - bits)) : v >> (64 - bits);
}

/* They are numbers, one behind the other. */
static uint64_t fact_of(const struct running *r, uint8_t fact, uint8_t *state)
{
	_Static_assert(offsetof(struct condition_facts, duration_ns) == FACT_DURATION &&
		       offsetof(struct condition_facts, caller) == 8 * FACT_CALLER, "in order");

	*state = fact == FACT_DURATION && !r->at_exit ? CONDITION_ANY :
		fact == FACT_CALLER && !r->f->caller ? CONDITION_UNKNOWN : KNOWN;
	return fact < FACTS ? ((const uint64_t *)r->f)[fact] : 0;
}

/* ---- numbers ------------------------------------------------------------- */

static int order_unsigned(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* As numbers, whatever their types: -1 is below each that has no sign. */
static int order(uint64_t a, bool a_signed, uint64_t b, bool b_signed)
{
	bool a_below = a_signed && (int64_t)a < 0, b_below = b_signed && (int64_t)b < 0;

	return a_below != b_below ? (a_below ? -1 : 1) : order_unsigned(a, b);
}

static bool holds(uint8_t relation, int order)
{
	switch (relation) {
	case RELATION_LT:
		return order < 0;
	case RELATION_LE:
		return order <= 0;
	case RELATION_GT:
		return order > 0 && order != UNORDERED;
	case RELATION_GE:
		return order >= 0 && order != UNORDERED;
	case RELATION_EQ:
		return !order;
	default:
		return order;
	}
}

static uint8_t compare(const struct condition_op *o, uint64_t a, uint8_t a_state, uint64_t b,
		       uint8_t b_state)
{
	uint8_t state = both_known(a_state, b_state);

	return state != KNOWN ? state :
		as_set(holds(o->relation, order(a, o->flags & CONDITION_SIGNED, b,
						o->flags & CONDITION_OTHER_SIGNED)));
}

/* What has no result in C is unknown. */
static uint64_t compute(const struct condition_op *o, uint64_t a, uint64_t b, uint8_t *state)
{
	bool is_signed = o->flags & CONDITION_SIGNED;

	if (*state != KNOWN)
		return 0;
	if (condition_undefined(o->code, a, b, is_signed)) {
		*state = CONDITION_UNKNOWN;
		return 0;
	}
	return condition_compute(o->code, a, b, is_signed);
}

/* ---- floats -------------------------------------------------------------- */

struct wide {
	uint64_t hi, lo;
};

enum { WIDE_BIAS = 16383, WIDE_MOST = 0x7fff };

/* `fraction`: the bits behind the leading one, from the topmost bit on. */
static struct wide wide_of(bool minus, uint64_t exponent, uint64_t fraction)
{
	return (struct wide){ (uint64_t)minus << 63 | (exponent & WIDE_MOST) << 48 |
			      fraction >> 16, fraction << 48 };
}

/* A number without a sign, times two to a power. */
static struct wide wide_whole(bool minus, uint64_t v, int power)
{
	int zeros = v ? __builtin_clzll(v) : 0;

	return !v ? wide_of(minus, 0, 0) :
		wide_of(minus, (uint64_t)(WIDE_BIAS + 63 - zeros + power), v << zeros << 1);
}

/* IEEE 754 of up to 64 bits. */
static struct wide wide_ieee(uint64_t v, unsigned int exponents, unsigned int fractions)
{
	uint64_t most = (1ull << exponents) - 1, e = v >> fractions & most;
	uint64_t fraction = v << (64 - fractions);
	bool minus = v >> (exponents + fractions) & 1;
	int bias = (int)(most >> 1);

	if (e == most)
		return wide_of(minus, WIDE_MOST, fraction);
	if (!e)
		return wide_whole(minus, fraction >> (64 - fractions), 1 - bias - (int)fractions);
	return wide_of(minus, e + (uint64_t)(WIDE_BIAS - bias), fraction);
}

/* The x87's has its leading one written out. Where that is missing the processor takes it for
 * no number, but for the smallest ones. */
static struct wide wide_x87(const uint8_t *p)
{
	uint64_t v = load(p, 8), top = load(p + 8, 2), e = top & WIDE_MOST;
	bool minus = top >> 15, leading = v >> 63;

	if (e && !leading)
		return wide_of(minus, WIDE_MOST, 1ull << 63);
	return wide_of(minus, !e && leading ? 1 : e, v << 1);
}

static struct wide wide_float(const uint8_t *p, uint8_t form)
{
	unsigned int n = form & FORM_SIZE;
	uint64_t v;

	switch (form & (FORM_INTEGER | FORM_SIZE)) {
	case 4:
		return wide_ieee(load(p, 4), 8, 23);
	case 8:
		return wide_ieee(load(p, 8), 11, 52);
	case 10:
		return wide_x87(p);
	case 0:
		return (struct wide){ load(p + 8, 8), load(p, 8) };
	}
	v = load(p, n);
	if (form & FORM_SIGNED && n && n < 8)
		v = (uint64_t)((int64_t)(v << (64 - 8 * n)) >> (64 - 8 * n));
	if (form & FORM_SIGNED && (int64_t)v < 0)
		return wide_whole(true, 0 - v, 0);
	return wide_whole(false, v, 0);
}

static bool is_nan(struct wide w)
{
	uint64_t hi = w.hi << 1 >> 1, infinite = (uint64_t)WIDE_MOST << 48;

	return hi > infinite || (hi == infinite && w.lo);
}

static int order_wide(struct wide a, struct wide b)
{
	uint64_t a_hi = a.hi << 1, b_hi = b.hi << 1;
	bool minus = a.hi >> 63;
	int size;

	if (is_nan(a) || is_nan(b))
		return UNORDERED;
	if (!(a_hi | a.lo | b_hi | b.lo))
		return 0;
	if (minus != b.hi >> 63)
		return minus ? -1 : 1;
	size = a_hi != b_hi ? order_unsigned(a_hi, b_hi) : order_unsigned(a.lo, b.lo);
	return minus ? -size : size;
}

static uint32_t float_size(uint8_t form)
{
	return form & FORM_SIZE ? form & FORM_SIZE : 16;
}

KEPT_OUT uint8_t floats(const struct running *r, const struct condition_op *o)
{
	uint8_t a_state, b_state, state;
	const uint8_t *a = operand(r, o->index, o->form, o->at, float_size(o->form), &a_state);
	const uint8_t *b = operand(r, o->other_index, o->other_form, o->other_at,
				   float_size(o->other_form), &b_state);

	state = both_known(a_state, b_state);
	if (state != KNOWN || !a || !b)
		return state == KNOWN ? CONDITION_UNKNOWN : state;
	return as_set(holds(o->relation, order_wide(wide_float(a, o->form),
						    wide_float(b, o->other_form))));
}

/* ---- texts --------------------------------------------------------------- */

static uint32_t up_to_nul(const uint8_t *p, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n && p[i]; i++)
		;
	return i;
}

static void cut_at(struct bytes *b, uint32_t limit, bool whole)
{
	if (b->n >= limit) {
		b->n = limit;
		b->whole = whole;
	}
}

/* Of a result. What cannot be read to its end is unknown, but up to a NUL. */
static uint8_t text_result(const struct running *r, uint8_t index, uint8_t form, uint16_t at,
			   uint16_t limit, struct bytes *ret)
{
	uint32_t n;
	uint8_t status, kind = form & FORM_SIZE;

	ret->p = result_bytes(r->s, index, at, &n, &status);
	if (!ret->p)
		return CONDITION_UNKNOWN;
	ret->n = n;
	ret->whole = status == READ_DONE;
	if (kind == TEXT_SHORT) {
		if (!n || *ret->p & 1 || *ret->p >> 1 >= n)
			return CONDITION_UNKNOWN;
		*ret = (struct bytes){ ret->p + 1, *ret->p >> 1, true };
		return KNOWN;
	}
	cut_at(ret, limit, true);
	n = kind == TEXT_UP_TO_NUL ? up_to_nul(ret->p, ret->n) : ret->n;
	if (n < ret->n)
		cut_at(ret, n, true);
	return ret->whole || status == READ_CUT ? KNOWN : CONDITION_UNKNOWN;
}

static uint8_t text_of(const struct running *r, uint8_t index, uint8_t form, uint16_t at,
		       uint16_t limit, struct bytes *ret)
{
	const uint8_t *comm = (const uint8_t *)r->f->comm;

	*ret = (struct bytes){ comm, 0, true };
	if (form & FORM_POOL) {
		if ((uint32_t)at + limit > CONDITION_POOL)
			return CONDITION_UNKNOWN;
		*ret = (struct bytes){ r->c->pool + at, limit, true };
		return KNOWN;
	}
	if (form & FORM_AT_EXIT && !r->at_exit)
		return CONDITION_ANY;
	if ((form & FORM_SIZE) != TEXT_COMM)
		return text_result(r, index, form, at, limit, ret);
	ret->n = up_to_nul(comm, sizeof(r->f->comm));
	return ret->n ? KNOWN : CONDITION_UNKNOWN;
}

/* Of two that may go on. */
static uint8_t same_text(struct bytes a, struct bytes b)
{
	uint32_t i, n = a.n < b.n ? a.n : b.n;

	for (i = 0; i < n; i++)
		if (a.p[i] != b.p[i])
			return CONDITION_FALSE;
	if (a.whole && b.whole)
		return as_set(a.n == b.n);
	/* One that goes on has more than is here of it. */
	if ((!a.whole && b.whole && b.n <= a.n) || (!b.whole && a.whole && a.n <= b.n))
		return CONDITION_FALSE;
	return CONDITION_UNKNOWN;
}

static uint8_t negation(uint8_t set)
{
	return (set & CONDITION_UNKNOWN) | (set & CONDITION_FALSE ? CONDITION_TRUE : 0) |
		(set & CONDITION_TRUE ? CONDITION_FALSE : 0);
}

KEPT_OUT uint8_t texts(const struct running *r, const struct condition_op *o)
{
	struct bytes a, b;
	uint8_t a_state = text_of(r, o->index, o->form, o->at, o->limit, &a);
	uint8_t b_state = text_of(r, o->other_index, o->other_form, o->other_at, o->other_limit,
				  &b);
	uint8_t state = both_known(a_state, b_state);

	if (state != KNOWN)
		return state;
	return o->relation == RELATION_NE ? negation(same_text(a, b)) : same_text(a, b);
}

/* ---- other terms --------------------------------------------------------- */

/* A return address may be the first behind a function that calls as the last it does. */
static uint8_t called(const struct running *r, const struct condition_op *o)
{
	uint64_t from = r->f->caller - 1;
	uint32_t i, end = (uint32_t)o->shift + o->bits;

	if (!r->f->caller)
		return CONDITION_UNKNOWN;
	for (i = o->shift; i < end && i < CONDITION_RANGES; i++)
		if (from >= r->c->ranges[i].start && from < r->c->ranges[i].end)
			return as_set(o->relation != RELATION_NE);
	return as_set(o->relation == RELATION_NE);
}

static uint8_t sample(const struct running *r, const struct condition_op *o)
{
	return as_set(!((unsigned __int128)r->f->random * o->number >> 64));
}

/* How long a call takes that is open: so long at least. */
static uint8_t test_open(const struct running *r, const struct condition_op *o)
{
	int is = order(r->f->duration_ns, false, o->number, o->flags & CONDITION_OTHER_SIGNED);
	bool at_once = o->relation == RELATION_GE || o->relation == RELATION_LT;

	return is > 0 || (!is && at_once) ? as_set(holds(o->relation, is)) : CONDITION_ANY;
}

static uint8_t test(const struct running *r, const struct condition_op *o)
{
	uint8_t state = KNOWN;

	if (o->code == CONDITION_TEST_FACT && o->index == FACT_DURATION && !r->at_exit)
		return test_open(r, o);
	uint64_t v = o->code == CONDITION_TEST ? value_of(r, o, &state) :
		fact_of(r, o->index, &state);

	return compare(o, v, state, o->number, KNOWN);
}

/* ---- sets ---------------------------------------------------------------- */

/* False if one is; else true if both are. */
static uint8_t conjunction(uint8_t a, uint8_t b)
{
	uint8_t not_false = CONDITION_TRUE | CONDITION_UNKNOWN;
	bool unknown = (a & CONDITION_UNKNOWN && b & not_false) ||
		(b & CONDITION_UNKNOWN && a & not_false);

	return ((a | b) & CONDITION_FALSE) | (a & b & CONDITION_TRUE) |
		(unknown ? CONDITION_UNKNOWN : 0);
}

static uint8_t instead(uint8_t a, uint8_t b)
{
	return a & CONDITION_UNKNOWN ? (a & ~CONDITION_UNKNOWN) | b : a;
}

/* `b` is not there for a negation. */
static uint8_t combine(uint8_t code, uint8_t a, uint8_t b)
{
	switch (code) {
	case CONDITION_BOTH:
		return conjunction(a, b);
	case CONDITION_EITHER:
		return negation(conjunction(negation(a), negation(b)));
	default:
		return instead(a, b);
	}
}

/* What it becomes true of is `then`. */
static uint8_t given(uint8_t a, uint8_t then)
{
	uint8_t ret = a & CONDITION_TRUE ? then & CONDITION_ANY : 0;

	return a & (CONDITION_FALSE | CONDITION_UNKNOWN) ? ret | CONDITION_UNKNOWN : ret;
}

/* -------------------------------------------------------------------------- */

struct stack {
	uint32_t n;
	uint8_t state[CONDITION_STACK];
	uint64_t v[CONDITION_STACK];
};

static void push(struct stack *k, uint64_t v, uint8_t state)
{
	if (k->n < CONDITION_STACK) {
		k->v[k->n] = v;
		k->state[k->n++] = state;
	}
}

static uint64_t pop(struct stack *k, uint8_t *state)
{
	if (!k->n) {
		*state = NOTHING;
		return 0;
	}
	*state = k->state[--k->n];
	return k->v[k->n];
}

static void run_term(const struct running *r, const struct condition_op *o, struct stack *k)
{
	uint8_t state = KNOWN;
	uint64_t v = 0;

	switch (o->code) {
	case CONDITION_TEST:
	case CONDITION_TEST_FACT:
		state = test(r, o);
		break;
	case CONDITION_TEXTS:
		state = texts(r, o);
		break;
	case CONDITION_FLOATS:
		state = floats(r, o);
		break;
	case CONDITION_CALLED:
		state = called(r, o);
		break;
	case CONDITION_SAMPLE:
		state = sample(r, o);
		break;
	case CONDITION_CONSTANT:
		state = o->index;
		break;
	case CONDITION_NUMBER:
		v = o->number;
		break;
	case CONDITION_VALUE:
		v = value_of(r, o, &state);
		break;
	case CONDITION_FACT:
		v = fact_of(r, o->index, &state);
		break;
	default:
		state = CONDITION_UNKNOWN;
	}
	push(k, v, state);
}

static void run_inner(const struct condition_op *o, struct stack *k)
{
	bool two = o->code <= CONDITION_SHR || o->code == CONDITION_COMPARE ||
		(o->code >= CONDITION_BOTH && o->code != CONDITION_NOT &&
		 o->code != CONDITION_GIVEN);
	uint8_t a_state, b_state = KNOWN;
	uint64_t b = two ? pop(k, &b_state) : 0, a = pop(k, &a_state);

	switch (o->code) {
	case CONDITION_NEGATE:
		push(k, 0 - a, a_state);
		return;
	case CONDITION_COMPLEMENT:
		push(k, ~a, a_state);
		return;
	case CONDITION_COMPARE:
		push(k, 0, compare(o, a, a_state, b, b_state));
		return;
	case CONDITION_TRUTH:
		push(k, 0, a_state == KNOWN ? as_set(a) : a_state);
		return;
	case CONDITION_NOT:
		push(k, 0, negation(a_state));
		return;
	case CONDITION_GIVEN:
		push(k, 0, given(a_state, o->index));
		return;
	}
	if (o->code > CONDITION_SHR) {
		push(k, 0, combine(o->code, a_state, b_state));
		return;
	}
	a_state = both_known(a_state, b_state);
	a = compute(o, a, b, &a_state);
	push(k, a, a_state);
}

enum verdict condition_run(const struct condition *c, bool at_exit, const struct reads_state *s,
			   const struct condition_facts *f)
{
	const struct running r = { c, s, f, at_exit };
	struct stack k;
	uint32_t i;
	uint8_t set;

	k.n = 0;
	for (i = 0; i < c->nops && i < CONDITION_OPS; i++) {
		if (c->ops[i].code <= CONDITION_NOTHING)
			run_term(&r, &c->ops[i], &k);
		else
			run_inner(&c->ops[i], &k);
	}
	pop(&k, &set);
	if (!(set & CONDITION_TRUE))
		return VERDICT_FAILS;
	return set == CONDITION_TRUE ? VERDICT_PASSES : at_exit ? VERDICT_FAILS : VERDICT_OPEN;
}

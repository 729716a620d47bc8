/* SPDX-License-Identifier: MIT */
/*
 * Has a condition of random operators and operands the value that a plain evaluator of its tree
 * finds; does the exit say what the entry was certain of; and does a register that refuses a call
 * refuse none that passes?
 *
 * The tree is printed with as few parentheses as C needs.
 */
#include <elf.h>
#include <stdarg.h>

#include "tests/unit/check.h"
#include "values/compile.h"
#include "values/condition_compile.h"
#include "values/condition_early.h"
#include "values/places.h"

enum { ROUNDS = 60000, BASE = 0x10000, SIZE = 0x100, TREES = 64 };

static uint64_t seed = 88172645463325252u;
static uint8_t world[SIZE];

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static size_t read_world(void *ctx, uint64_t at, void *buf, size_t n)
{
	if (at < BASE || at >= BASE + SIZE)
		return 0;
	n = MIN(n, BASE + SIZE - at);
	memcpy(buf, world + (at - BASE), n);
	return n;
}

static const struct reads_memory memory = { read_world, NULL };

/* ---- the function -------------------------------------------------------- */

static const struct variable {
	const char *name;
	uint8_t kind, flags, size;
} variables[] = {
	{ "a", TYPE_INT, TYPE_SIGNED, 1 }, { "b", TYPE_INT, 0, 2 },
	{ "c", TYPE_INT, TYPE_SIGNED, 4 }, { "d", TYPE_INT, 0, 4 },
	{ "e", TYPE_INT, TYPE_SIGNED, 8 }, { "f", TYPE_INT, 0, 8 },
	{ "*p", TYPE_POINTER, TYPE_SIGNED, 4 }, { "*q", TYPE_POINTER, TYPE_SIGNED, 4 },
	{ "retval", TYPE_INT, TYPE_SIGNED, 4 },
};

static struct signature sig;
static double x, y;
static float z;

static void param(const char *name, struct type t)
{
	sig.params[sig.nparams++] = (struct parameter){
		.name = signature_text(&sig, name), .type = signature_type(&sig, &t),
		.place.kind = PLACE_BY_TYPE };
}

static void declare(void)
{
	struct type t_int = { .kind = TYPE_INT, .flags = TYPE_SIGNED, .size = 4 };
	struct type t_char = { .kind = TYPE_CHAR, .size = 1 };
	uint32_t ints, chars;

	MUST_EQ(signature_begin(&sig, EM_X86_64), 0);
	ints = signature_type(&sig, &t_int);
	chars = signature_type(&sig, &t_char);
	for (int i = 0; i < 6; i++)
		param(variables[i].name, (struct type){ .kind = TYPE_INT, .size = variables[i].size,
							.flags = variables[i].flags });
	param("p", (struct type){ .kind = TYPE_POINTER, .size = 8, .of = ints });
	param("q", (struct type){ .kind = TYPE_POINTER, .size = 8, .of = ints });
	param("s", (struct type){ .kind = TYPE_POINTER, .size = 8, .of = chars });
	param("t", (struct type){ .kind = TYPE_POINTER, .size = 8, .of = chars });
	param("x", (struct type){ .kind = TYPE_FLOAT, .size = 8 });
	param("y", (struct type){ .kind = TYPE_FLOAT, .size = 8 });
	param("z", (struct type){ .kind = TYPE_FLOAT, .size = 4 });
	sig.result = (struct parameter){ .type = ints, .place.kind = PLACE_BY_TYPE };
	places_settle(&sig);
}

/* ---- the call ------------------------------------------------------------ */

/* What is in the variables: small numbers, mostly, so that they are equal at times. */
static uint64_t held[ARRAY_SIZE(variables)];
static bool readable[ARRAY_SIZE(variables)];
static const char *texts[2];	/* NULL: unreadable */
static struct reads_registers regs;
static uint64_t draw;

static uint64_t some(void)
{
	switch (rnd() % 4) {
	case 0: return rnd();
	case 1: return 0 - rnd() % 4;
	default: return rnd() % 5;
	}
}

static double some_float(void)
{
	static const double v[] = { 0, -0.0, 1, 2, -1, 0.1, 1e-310, -1e300, 0x1p-149 };

	return rnd() % 12 ? v[rnd() % ARRAY_SIZE(v)] :
		rnd() % 2 ? __builtin_nan("") : __builtin_inf();
}

static uint64_t some_text(unsigned int i)
{
	static const char *const v[] = { "", "a", "ab", "GET", "GETS" };

	texts[i] = rnd() % 5 ? v[rnd() % ARRAY_SIZE(v)] : NULL;
	if (!texts[i])
		return rnd() % 2 ? 0 : 16;
	strcpy((char *)world + 0x80 + 0x20 * i, texts[i]);
	return BASE + 0x80 + 0x20 * i;
}

static const uint8_t general[] = { 5, 4, 1, 2, 8, 9 };

static void call(void)
{
	uint64_t words[4];

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		unsigned int shift = 64 - 8 * variables[i].size;

		held[i] = some() << shift;
		held[i] = variables[i].flags ? (uint64_t)((int64_t)held[i] >> shift) :
			held[i] >> shift;
		readable[i] = variables[i].kind != TYPE_POINTER || rnd() % 4;
		if (i < 6)
			regs.general[general[i]] = held[i] ^ rnd() << 1 << (63 - shift);
	}
	for (int i = 0; i < 2; i++) {
		memcpy(world + 0x40 + 8 * i, &held[6 + i], 4);
		words[i] = readable[6 + i] ? BASE + 0x40 + 8u * i : rnd() % 2 ? 0 : 8;
		words[2 + i] = some_text(i);
	}
	memcpy(world + 8, words, sizeof(words));
	regs.stack = BASE;
	x = some_float();
	y = some_float();
	z = (float)some_float();
	memcpy(regs.vector[0], &x, 8);
	memcpy(regs.vector[1], &y, 8);
	memcpy(regs.vector[2], &z, 4);
	draw = rnd();
}

/* ---- trees --------------------------------------------------------------- */

enum kind { NUMBER, VARIABLE, COMPUTED, NEGATED, INVERTED, COMPARED, TEXTS_COMPARED,
	    FLOATS_COMPARED, SAMPLED, BOTH, EITHER, NOT };

static struct tree {
	enum kind kind;
	unsigned int op;
	struct tree *left, *right;
	uint64_t number;
	unsigned int i, j;
} trees[TREES];
static unsigned int ntrees;

static const struct { const char *sign; int binds; } computing[] = {
	{ "+", 9 }, { "-", 9 }, { "*", 10 }, { "/", 10 }, { "%", 10 }, { "&", 5 }, { "|", 3 },
	{ "^", 4 }, { "<<", 8 }, { ">>", 8 },
};
static const struct { const char *sign; int binds; } comparing[] = {
	{ "<", 7 }, { "<=", 7 }, { ">", 7 }, { ">=", 7 }, { "==", 6 }, { "!=", 6 },
};

static struct tree *new_tree(enum kind kind)
{
	struct tree *t = &trees[ntrees++ % TREES];

	*t = (struct tree){ .kind = kind };
	return t;
}

static struct tree *random_number(unsigned int deep, bool literal)
{
	struct tree *t;

	if (!deep || rnd() % 2) {
		t = new_tree(literal && rnd() % 2 ? NUMBER : VARIABLE);
		t->number = rnd() % 8 ? rnd() % 5 : rnd() >> 1;
		t->i = (unsigned int)(rnd() % ARRAY_SIZE(variables));
		return t;
	}
	t = new_tree(rnd() % 6 ? COMPUTED : rnd() % 2 ? NEGATED : INVERTED);
	t->op = (unsigned int)(rnd() % ARRAY_SIZE(computing));
	t->left = random_number(deep - 1, false);
	t->right = t->kind == COMPUTED ? random_number(deep - 1, true) : NULL;
	return t;
}

static struct tree *random_term(void)
{
	struct tree *t = new_tree(rnd() % 3 ? COMPARED : rnd() % 2 ? TEXTS_COMPARED :
				  rnd() % 8 ? FLOATS_COMPARED : SAMPLED);

	t->op = (unsigned int)(rnd() % ARRAY_SIZE(comparing));
	t->i = (unsigned int)(rnd() % 3);
	t->j = (unsigned int)(rnd() % 6);
	t->number = 1 + rnd() % 3;
	if (t->kind == TEXTS_COMPARED)
		t->op = 4 + t->op % 2;
	if (t->kind != COMPARED)
		return t;
	t->left = random_number(2, false);
	t->right = random_number(1, true);
	return t;
}

static struct tree *random_tree(unsigned int deep)
{
	struct tree *t;

	if (!deep || rnd() % 4 == 0)
		return rnd() % 8 ? random_term() : random_number(1, false);
	t = new_tree(rnd() % 5 == 0 ? NOT : rnd() % 2 ? BOTH : EITHER);
	t->left = random_tree(deep - 1);
	t->right = t->kind == NOT ? NULL : random_tree(deep - 1);
	return t;
}

/* ---- as text ------------------------------------------------------------- */

static char text[8192];
static size_t ntext;

static const char *const literals[] = { "\"\"", "\"a\"", "\"GET\"", "\"GETSX\"" };
static const char *const plain[] = { "", "a", "GET", "GETSX" };
static const char *const float_names[] = { "x", "y", "z", "0.1", "-1", "e" };

static __attribute__((format(printf, 1, 2))) void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ntext += (size_t)vsnprintf(text + ntext, sizeof(text) - ntext, fmt, ap);
	va_end(ap);
	MUST(ntext < sizeof(text));
}

static void print(const struct tree *t, int binds);

static void print_two(const struct tree *t, const char *sign, int own, int binds)
{
	say("%s", own < binds ? "(" : "");
	print(t->left, own);
	say("%s%s%s", rnd() % 2 ? " " : "", sign, " ");
	print(t->right, own + 1);
	say("%s", own < binds ? ")" : "");
}

static void print(const struct tree *t, int binds)
{
	switch (t->kind) {
	case NUMBER:
		say(rnd() % 2 ? "%llu" : "%#llx", (unsigned long long)t->number);
		break;
	case VARIABLE:
		say("%s", variables[t->i].name);
		break;
	case COMPUTED:
		print_two(t, computing[t->op].sign, computing[t->op].binds, binds);
		break;
	case COMPARED:
		print_two(t, comparing[t->op].sign, comparing[t->op].binds, binds);
		break;
	case NEGATED:
	case INVERTED:
	case NOT:
		say("%s", t->kind == NOT ? "!" : t->kind == NEGATED ? "- " : "~");
		print(t->left, 11);
		break;
	case TEXTS_COMPARED:
		say("%s%s %s %s%s", binds > 6 ? "(" : "",
		    t->i == 1 ? "str(t)" : t->j >= 4 ? "str(s)" : "s",
		    comparing[t->op].sign, t->j < 4 ? literals[t->j] : t->j == 4 ? "s" : "t",
		    binds > 6 ? ")" : "");
		break;
	case FLOATS_COMPARED:
		say("%s%s %s %s%s", binds > 6 ? "(" : "", float_names[t->i],
		    comparing[t->op].sign, float_names[t->j], binds > 6 ? ")" : "");
		break;
	case SAMPLED:
		say("1 in %llu", (unsigned long long)t->number);
		break;
	default:
		print_two(t, t->kind == BOTH ? "&&" : "||", t->kind == BOTH ? 2 : 1, binds);
	}
}

/* ---- its value ----------------------------------------------------------- */

struct number {
	bool known, is_signed;
	uint64_t v;
};

static __int128 whole(struct number n)
{
	return n.is_signed ? (__int128)(int64_t)n.v : (__int128)n.v;
}

static struct number computed(unsigned int op, struct number a, struct number b)
{
	bool is_signed = a.is_signed && (b.is_signed || op >= 8), known = a.known && b.known;
	__int128 l = is_signed ? (__int128)(int64_t)a.v : a.v, v = 0;
	__int128 r = is_signed ? (__int128)(int64_t)b.v : b.v;

	if (op >= 8 && b.v >= 64)
		known = false;
	if ((op == 3 || op == 4) && (!r || l / r > (is_signed ? INT64_MAX : (__int128)UINT64_MAX)))
		known = false;
	if (!known)
		return (struct number){ false, is_signed, 0 };
	switch (op) {
	case 0: v = l + r; break;
	case 1: v = l - r; break;
	case 2: v = (__int128)((unsigned __int128)l * (unsigned __int128)r); break;
	case 3: v = l / r; break;
	case 4: v = l % r; break;
	case 5: v = l & r; break;
	case 6: v = l | r; break;
	case 7: v = l ^ r; break;
	case 8: v = (__int128)((unsigned __int128)a.v << b.v); break;
	default: v = l >> b.v;
	}
	return (struct number){ true, is_signed, (uint64_t)v };
}

static struct number number_of(const struct tree *t)
{
	struct number n;

	switch (t->kind) {
	case NUMBER:
		return (struct number){ true, true, t->number };
	case VARIABLE:
		return (struct number){ readable[t->i], variables[t->i].flags ||
					variables[t->i].size < 8, held[t->i] };
	case COMPUTED:
		return computed(t->op, number_of(t->left), number_of(t->right));
	default:
		n = number_of(t->left);
		n.is_signed |= t->kind == NEGATED;
		n.v = t->kind == NEGATED ? 0 - n.v : ~n.v;
		return n;
	}
}

enum truth { FALSE, UNKNOWN, TRUE };	/* in the order of their weight for && and || */

static enum truth ordered(unsigned int op, int order)
{
	const bool is[] = { order < 0, order <= 0, order > 0, order >= 0, !order, order };

	return is[op] ? TRUE : FALSE;
}

static double float_of(unsigned int i)
{
	const double v[] = { x, y, z, 0.1, -1 };

	return v[i];
}

static enum truth floats_compared(const struct tree *t)
{
	long double l = float_of(t->i), r = t->j == 5 ? (long double)(int64_t)held[4] :
		(long double)float_of(t->j);
	const bool is[] = { l < r, l <= r, l > r, l >= r, l == r, l != r };

	return is[t->op] ? TRUE : FALSE;
}

static enum truth texts_compared(const struct tree *t)
{
	const char *l = texts[t->i == 1], *r = t->j < 4 ? plain[t->j] : texts[t->j == 5];

	return !l || !r ? UNKNOWN : ordered(t->op, strcmp(l, r));
}

static enum truth truth_of(const struct tree *t)
{
	struct number l, r = { true, true, 0 };

	switch (t->kind) {
	case BOTH:
		return MIN(truth_of(t->left), truth_of(t->right));
	case EITHER:
		return MAX(truth_of(t->left), truth_of(t->right));
	case NOT:
		return (enum truth)(TRUE - truth_of(t->left));
	case TEXTS_COMPARED:
		return texts_compared(t);
	case FLOATS_COMPARED:
		return floats_compared(t);
	case SAMPLED:
		return draw / ((UINT64_MAX / t->number) + 1.0L) < 1 ? TRUE : FALSE;
	case COMPARED:
		l = number_of(t->left);
		r = number_of(t->right);
		return !l.known || !r.known ? UNKNOWN :
			ordered(t->op, whole(l) < whole(r) ? -1 : whole(l) > whole(r));
	default:
		l = number_of(t);
		return !l.known ? UNKNOWN : l.v ? TRUE : FALSE;
	}
}

/* -------------------------------------------------------------------------- */

static unsigned int open_ones, passed, early_ones, refused, failed_early;

/* By what the registers have at the entry. */
static void judge_early(const struct condition_early *e, enum verdict entry)
{
	bool refuses = e->argument && condition_refuses(e, regs.general[general[e->argument - 1]]);

	early_ones += e->argument != 0;
	failed_early += e->argument && entry == VERDICT_FAILS;
	refused += refuses;
	if (!refuses || entry == VERDICT_FAILS)
		return;
	failures++;
	fprintf(stderr, "%s: refused by argument %u, and entry %d\n", text,
		(unsigned int)e->argument, entry);
}

static void judge(const struct tree *t, const struct read_plan *plan, const struct condition *c)
{
	static struct reads_state s;
	struct condition_facts facts = { 0 };
	struct condition_early early;
	enum verdict entry, exit;

	call();
	facts.random = draw;
	memset(&s, 0, sizeof(s));
	reads_run(plan, false, &regs, &memory, &s);
	entry = condition_run(c, false, &s, &facts);
	condition_early(c, plan, general, ARRAY_SIZE(general), &early);
	judge_early(&early, entry);
	regs.general[0] = held[8];
	reads_run(plan, true, &regs, &memory, &s);
	exit = condition_run(c, true, &s, &facts);
	open_ones += entry == VERDICT_OPEN;
	passed += exit == VERDICT_PASSES;
	if (exit == (truth_of(t) == TRUE ? VERDICT_PASSES : VERDICT_FAILS) &&
	    (entry == VERDICT_OPEN ? c->at_exit : entry == exit))
		return;
	failures++;
	fprintf(stderr, "%s: entry %d, exit %d, it is %d\n", text, entry, exit, truth_of(t));
}

/* Of a condition that is one term the register says all; literals are near what may be equal, and
 * near the ends of each type. */
static void judge_exactly(const struct read_plan *plan, const struct condition *c,
			  unsigned int *told)
{
	static struct reads_state s;
	const struct condition_facts facts = { 0 };
	struct condition_early e;

	condition_early(c, plan, general, ARRAY_SIZE(general), &e);
	*told += e.argument != 0;
	for (int k = 0; k < 20 && e.argument; k++) {
		call();
		memset(&s, 0, sizeof(s));
		reads_run(plan, false, &regs, &memory, &s);
		if (condition_refuses(&e, regs.general[general[e.argument - 1]]) ==
		    (condition_run(c, false, &s, &facts) == VERDICT_FAILS))
			continue;
		failures++;
		fprintf(stderr, "%s: what argument %u says of %#llx is wrong\n", text,
			(unsigned int)e.argument,
			(unsigned long long)regs.general[general[e.argument - 1]]);
	}
}

static void test_terms(void)
{
	unsigned int made = 0, told = 0;

	for (unsigned int i = 0; i < ROUNDS && failures < 10; i++) {
		const struct variable *v = &variables[rnd() % 6];
		struct read_plan plan = { .machine = EM_X86_64 };
		struct condition_error e;
		struct condition c;
		uint64_t near = (1ull << (8 * v->size - 1 - rnd() % 2)) + rnd() % 5 - 2;
		unsigned long long number = rnd() % 3 ? rnd() % 5 : near, bits = rnd() % 8;
		const char *sign = rnd() % 4 ? "" : "-";

		ntext = 0;
		if (rnd() % 3)
			say("%s %s %s%llu", v->name, comparing[rnd() % ARRAY_SIZE(comparing)].sign,
			    sign, number);
		else if (rnd() % 2)
			say("%s & %llu", v->name, number);
		else
			say("%llu %s (%llu & %s)", number & bits, rnd() % 2 ? "==" : "!=", bits,
			    v->name);
		if (condition_compile(text, &sig, &plan, NULL, &c, &e))
			continue;
		made++;
		judge_exactly(&plan, &c, &told);
	}
	printf("%u terms, of %u a register says all\n", made, told);
	CHECK(made > ROUNDS / 2 && told > made / 2 && told < made);
}

int main(void)
{
	unsigned int made = 0;

	declare();
	test_terms();
	for (unsigned int i = 0; i < ROUNDS && failures < 10; i++) {
		struct read_plan plan = { .machine = EM_X86_64 };
		struct condition_error e;
		struct condition c;

		ntrees = 0;
		ntext = 0;
		const struct tree *t = random_tree(4);

		if (ntrees > TREES)
			continue;
		print(t, 0);
		if (i % 2)
			reads_compile(&sig, &(struct compile_options){ .deep = i % 4 }, &plan);
		int err = condition_compile(text, &sig, &plan, NULL, &c, &e);

		/* Shifts by what is too much, and the like. */
		if (err) {
			CHECK(e.column < ntext && *e.what);
			continue;
		}
		MUST_EQ(condition_check(&c), 0);
		MUST_EQ(reads_check(&plan), 0);
		made++;
		for (int k = 0; k < 4; k++)
			judge(t, &plan, &c);
	}
	printf("%u conditions, %u of %u calls open, %u passed; of %u a register could say so, and "
	       "refused %u of %u that fail at once\n", made, open_ones, 4 * made, passed,
	       early_ones, refused, failed_early);
	CHECK(early_ones > made / 16 && refused > failed_early / 4);
	CHECK(made > ROUNDS / 4 && open_ones > made / 4 && passed > made / 4);
	signature_clear(&sig);
	return failures != 0;
}

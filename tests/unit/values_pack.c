/* SPDX-License-Identifier: MIT */
/*
 * Does a signature with its plan come back from its packed form as it was; and does a packed form
 * that was cut off or damaged do no harm?
 */
#include <elf.h>
#include <errno.h>

#include "tests/unit/check.h"
#include "values/compile.h"
#include "values/hand.h"
#include "values/known.h"
#include "values/number.h"
#include "values/pack.h"
#include "values/text.h"

enum { ROUNDS = 100000 };

static uint64_t seed = 88172645463325252u;

static uint64_t random_word(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static void make(const char *text, struct signature *s, struct read_plan *plan)
{
	struct hand_error error;
	size_t name;

	MUST_EQ(hand_parse(text, EM_X86_64, s, &name, &error), 0);
	reads_compile(s, &(struct compile_options){ .deep = COMPILE_DEEP }, plan);
}

static struct packed pack(const struct signature *s, const struct read_plan *plan)
{
	struct packed ret = { 0 };

	MUST_EQ(values_pack(s, plan, &ret), 0);
	return ret;
}

static void same_text(const struct signature *a, const struct signature *b)
{
	char x[512], y[512];

	values_declaration(a, "f", x, sizeof(x));
	values_declaration(b, "f", y, sizeof(y));
	CHECK(!strcmp(x, y));
}

static void comes_back(const char *text)
{
	struct signature s, back;
	struct read_plan plan, plan_back;

	make(text, &s, &plan);
	struct packed p = pack(&s, &plan);

	MUST_EQ(values_unpack(p.v, p.n, &back, &plan_back), 0);
	same_text(&s, &back);
	CHECK_EQ(plan.nops, plan_back.nops);
	CHECK(!memcmp(plan.ops, plan_back.ops, plan.nops * sizeof(plan.ops[0])));
	struct packed again = pack(&back, &plan_back);

	CHECK_EQ(p.n, again.n);
	CHECK(!memcmp(p.v, again.v, MIN(p.n, again.n)));
	free(again.v);
	free(p.v);
	signature_clear(&s);
	signature_clear(&back);
}

/* What a plan might have brought, from one operation to another. */
static size_t make_capture(const struct read_plan *plan, unsigned int from, unsigned int to,
			   uint8_t ret[READS_CAPTURE_MAX])
{
	size_t at = 0;

	for (unsigned int i = from; i < to; i++) {
		struct read_result r = { MIN(plan->ops[i].cap, 16u), (uint8_t)(i % 5 ? 0 : i % 4),
					 (uint8_t)i };

		memcpy(ret + at, &r, sizeof(r));
		memset(ret + at + sizeof(r), (int)random_word(), r.n);
		at = ALIGN_UP(at + sizeof(r) + r.n, 4);
	}
	return at;
}

/* Single values, by names that it may have. */
static void pick_all(const struct capture *c)
{
	static const char *const names[] = {
		"a", "arg2", "*b", "*d", "**d", "c[1]", "b[200]", "retval", "*retval", "x.y", "arg32",
	};
	struct number number;
	struct pick pick;
	char text[512];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!pick_find(c->signature, names[i], &pick)) {
			values_picked(c, &pick, text, sizeof(text));
			number_take(c, &pick, &number);
		}
}

static void try(const uint8_t *bytes, size_t n)
{
	static struct read_plan plan;
	static struct capture c;
	static uint8_t entry[READS_CAPTURE_MAX], exit[READS_CAPTURE_MAX];
	struct signature s;
	char text[512];

	if (values_unpack(bytes, n, &s, &plan))
		return;
	values_declaration(&s, "f", text, sizeof(text));
	values_read(&s, &plan, text, sizeof(text));
	size_t nentry = make_capture(&plan, 0, plan.nentry, entry);
	size_t nexit = make_capture(&plan, plan.nentry, plan.nops, exit);

	MUST_EQ(capture_parse(&s, &plan, entry, nentry, exit, nexit, &c), 0);
	values_call(&c, "f", text, sizeof(text));
	pick_all(&c);
	signature_clear(&s);
}

static void damaged(const char *text)
{
	struct signature s;
	struct read_plan plan;

	make(text, &s, &plan);
	struct packed p = pack(&s, &plan);
	uint8_t *copy = malloc(p.n);

	signature_clear(&s);
	for (size_t n = 0; n < p.n; n++)
		CHECK_EQ(values_unpack(p.v, n, &s, &plan), -EBADMSG);
	for (int i = 0; i < ROUNDS; i++) {
		memcpy(copy, p.v, p.n);
		for (uint64_t k = random_word() % 4 + 1; k; k--)
			copy[random_word() % p.n] = (uint8_t)random_word();
		try(copy, p.n);
	}
	free(copy);
	free(p.v);
}

int main(void)
{
	static const char *const texts[] = {
		"f(a:i32, b:str, c:buf(a), d:out(ret), ret:i64)",
		"g(x:f64, y:f80, z:x64, ...)", "h(ret:str)", "k()",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		comes_back(texts[i]);
	damaged(texts[0]);
	damaged(texts[1]);
	return failures != 0;
}

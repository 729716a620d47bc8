/* SPDX-License-Identifier: MIT */
/*
 * Do read plans bring what they say, and no more; and does a plan, or a capture, of random bytes do
 * no harm?
 */
#include <elf.h>
#include <errno.h>

#include "tests/unit/check.h"
#include "values/compile.h"
#include "values/places.h"
#include "values/text.h"

enum { ROUNDS = 200000, BASE = 0x10000, SIZE = 0x2000 };

static uint64_t seed = 88172645463325252u;
static uint8_t world[SIZE];	/* memory at BASE; what follows cannot be read */
static struct reads_registers regs;

static uint64_t random_word(void)
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

static void run_one(struct read_op op, struct reads_state *s)
{
	struct read_plan p = { .nops = 2, .nentry = 2, .ops = {
		{ .source = READ_GENERAL, .index = 5, .cap = 8, .role = READ_PART, .unit = 1,
		  .length_index = READS_NONE, .if_index = READS_NONE }, op } };

	MUST_EQ(reads_check(&p), 0);
	memset(s, 0, sizeof(*s));
	reads_run(&p, false, &regs, &memory, s);
}

static void read_text(const char *text, uint16_t cap, uint16_t n, uint8_t status)
{
	struct reads_state s;

	strcpy((char *)world, text);
	regs.general[5] = BASE;
	run_one((struct read_op){ .source = READ_MEMORY, .index = 0, .flags = READ_TEXT, .cap = cap,
				  .role = READ_BEHIND, .length_index = READS_NONE,
				  .if_index = READS_NONE }, &s);
	CHECK_EQ(s.v[1].n, n);
	CHECK_EQ(s.v[1].status, status);
	CHECK(!memcmp(s.capture + s.v[1].at, text, n));
}

static void texts(void)
{
	struct reads_state s;
	struct read_op op = { .source = READ_MEMORY, .index = 0, .flags = READ_TEXT, .cap = 16,
			      .role = READ_BEHIND, .length_index = READS_NONE,
			      .if_index = READS_NONE };

	read_text("", 16, 0, READ_DONE);
	read_text("abc", 16, 3, READ_DONE);
	read_text("0123456789abcdef", 16, 16, READ_DONE);
	read_text("0123456789abcdefg", 16, 16, READ_CUT);
	regs.general[5] = 0;
	run_one(op, &s);
	CHECK_EQ(s.v[1].status, READ_NOT);
	regs.general[5] = 16;
	run_one(op, &s);
	CHECK_EQ(s.v[1].status, READ_FAILED);
	CHECK_EQ(s.v[1].n, 0);
	/* Up to the end of memory; with a NUL before it all is well. */
	memset(world + SIZE - 4, 'x', 4);
	regs.general[5] = BASE + SIZE - 4;
	run_one(op, &s);
	CHECK_EQ(s.v[1].status, READ_FAILED);
	CHECK_EQ(s.v[1].n, 4);
	world[SIZE - 1] = '\0';
	run_one(op, &s);
	CHECK_EQ(s.v[1].status, READ_DONE);
	CHECK_EQ(s.v[1].n, 3);
}

static void length_of(uint64_t pointer, uint64_t length, uint8_t flags, uint16_t unit, uint16_t n,
		      uint8_t status)
{
	struct reads_state s;
	struct read_plan p = { .nops = 3, .nentry = 3, .ops = {
		{ .source = READ_GENERAL, .index = 5, .cap = 8, .unit = 1,
		  .length_index = READS_NONE, .if_index = READS_NONE },
		{ .source = READ_GENERAL, .index = 4, .cap = 8, .unit = 1,
		  .length_index = READS_NONE, .if_index = READS_NONE },
		{ .source = READ_MEMORY, .index = 0, .cap = 32, .unit = unit, .flags = flags,
		  .length_index = 1, .length_size = 8, .if_index = READS_NONE } } };

	regs.general[5] = pointer;
	regs.general[4] = length;
	MUST_EQ(reads_check(&p), 0);
	memset(&s, 0, sizeof(s));
	reads_run(&p, false, &regs, &memory, &s);
	CHECK_EQ(s.v[2].n, n);
	CHECK_EQ(s.v[2].status, status);
}

static void lengths(void)
{
	length_of(BASE, 5, 0, 1, 5, READ_DONE);
	length_of(BASE, 0, 0, 1, 0, READ_DONE);
	length_of(BASE, 5, 0, 4, 20, READ_DONE);
	length_of(BASE, 32, 0, 1, 32, READ_DONE);
	length_of(BASE, 33, 0, 1, 32, READ_CUT);
	length_of(BASE, UINT64_MAX, 0, 8, 32, READ_CUT);
	length_of(BASE, UINT64_MAX, READ_SIGNED, 1, 0, READ_NOT);
	length_of(BASE, BASE + 12, READ_TO_END, 1, 12, READ_DONE);
	length_of(BASE, BASE - 1, READ_TO_END, 1, 0, READ_NOT);
	length_of(0, 5, 0, 1, 0, READ_NOT);
}

/* ---- hostile ------------------------------------------------------------- */

static struct read_op random_op(unsigned int i)
{
	struct read_op o;
	uint8_t *p = (uint8_t *)&o;

	for (size_t k = 0; k < sizeof(o); k++)
		p[k] = (uint8_t)random_word();
	/* Most are nearly good. */
	o.source %= 6;
	o.role %= 4;
	o.param %= 8;
	o.cap %= 64;
	o.flags &= ~READ_AT_EXIT;
	o.length_size = 1u << (o.length_size % 4);
	o.at %= 64;
	o.pointer_at %= 16;
	o.length_at %= 16;
	o.if_at %= 16;
	if (o.source != READ_MEMORY)
		o.flags = 0;
	if (o.source <= READ_X87)
		o.index %= 8;
	if (o.source == READ_GENERAL)
		o.offset = 0;
	if (o.source <= READ_X87 || o.source == READ_LITERAL)
		o.cap = 1 + o.cap % 8;
	if (o.source == READ_MEMORY)
		o.index = i ? o.index % i : READS_NONE;
	if (random_word() % 2 || !i || o.source != READ_MEMORY)
		o.length_index = READS_NONE;
	else
		o.length_index %= i;
	o.if_index = random_word() % 4 || !i ? READS_NONE : o.if_index % i;
	return o;
}

static struct signature signature;

static void show(const struct read_plan *p, const uint8_t *bytes, size_t n, size_t entry)
{
	char line[512];
	struct capture c;

	if (capture_parse(&signature, p, bytes, entry, bytes + entry, n - entry, &c) == 0)
		values_call(&c, "f", line, sizeof(line));
}

static void random_plans(void)
{
	static struct reads_state s;
	size_t good = 0;

	for (unsigned int k = 0; k < ROUNDS / 10; k++) {
		struct read_plan p = { .nops = (uint16_t)(1 + random_word() % 12) };

		p.nentry = p.nops;
		for (unsigned int i = 0; i < p.nops; i++)
			p.ops[i] = random_op(i);
		if (reads_check(&p))
			continue;
		good++;
		for (size_t i = 0; i < READS_GENERAL; i++)
			regs.general[i] = random_word() % 2 ? BASE + random_word() % SIZE :
				random_word();
		memset(&s, 0, sizeof(s));
		reads_run(&p, false, &regs, &memory, &s);
		MUST(s.used <= READS_CAPTURE_MAX);
		show(&p, s.capture, s.used, s.used);
		for (int i = 0; i < 4; i++)
			s.capture[random_word() % (s.used + 1)] = (uint8_t)random_word();
		show(&p, s.capture, s.used, s.used);
	}
	printf("%zu of %d random plans are good\n", good, ROUNDS / 10);
	CHECK(good > ROUNDS / 100);
}

/* Indices and sizes of a signature's types may be anything, if it comes from a recording. */
static void random_signatures(void)
{
	struct compile_options o = { .deep = 2 };
	static struct reads_state s;
	struct read_plan p;

	for (unsigned int k = 0; k < ROUNDS / 20; k++) {
		MUST_EQ(signature_begin(&signature, EM_X86_64), 0);
		for (int i = 0; i < 12; i++)
			signature_type(&signature, &(struct type){
				.kind = random_word() % 15, .flags = (uint8_t)random_word(),
				.shape = random_word() % 3 ? 0 : random_word() % 8,
				.size = random_word() % 4 ? random_word() % 32 : random_word(),
				.of = random_word() % 14, .first = random_word() % 14,
				.n = random_word() % 8, .name = random_word() % 64,
				.pointer_at = random_word() % 16,
				.length_at = random_word() % 16 });
		for (int i = 0; i < 16; i++)
			signature_member(&signature, &(struct member){
				.type = random_word() % 14, .at = random_word() % 32,
				.bits = random_word() % 4 ? 0 : random_word() % 256,
				.bit = random_word() % 8, .name = random_word() % 64 });
		signature.nparams = 4;
		for (int i = 0; i < 4; i++)
			signature.params[i] = (struct parameter){
				.type = random_word() % 14, .place.kind = PLACE_BY_TYPE };
		signature.result.type = random_word() % 14;
		signature.result.place.kind = PLACE_BY_TYPE;
		signature.machine = random_word() % 2 ? EM_X86_64 : EM_AARCH64;
		places_settle(&signature);
		reads_compile(&signature, &o, &p);
		MUST_EQ(reads_check(&p), 0);
		for (size_t i = 0; i < READS_GENERAL; i++)
			regs.general[i] = BASE + random_word() % SIZE;
		memset(&s, 0, sizeof(s));
		reads_run(&p, false, &regs, &memory, &s);
		size_t entry = s.used;

		reads_run(&p, true, &regs, &memory, &s);
		show(&p, s.capture, s.used, entry);
		signature_clear(&signature);
	}
}

/* ---- registers alone ------------------------------------------------------- */

static size_t read_nothing(void *ctx, uint64_t at, void *buf, size_t n)
{
	return 0;
}

static struct read_op some_op(unsigned int i, bool at_exit)
{
	static const uint8_t sources[] = { READ_GENERAL, READ_GENERAL, READ_GENERAL, READ_LITERAL,
					   READ_SUM, READ_MEMORY, READ_STACK, READ_VECTOR };
	struct read_op o = {
		.source = sources[random_word() % (random_word() % 4 ? 5 : ARRAY_SIZE(sources))],
		.cap = 8, .unit = 1, .flags = at_exit ? READ_AT_EXIT : 0,
		.length_index = READS_NONE, .if_index = READS_NONE,
	};

	o.index = (uint8_t)(o.source == READ_GENERAL || !i ? random_word() % 10 :
			    random_word() % i);
	if (i && random_word() % 4 == 0) {
		o.if_index = (uint8_t)(random_word() % i);
		o.if_mask = 1;
	}
	return o;
}

static void run_with(const struct read_plan *p, bool at_exit, const struct reads_registers *with,
		     bool all, struct reads_state *s)
{
	static const struct reads_memory none = { read_nothing, NULL };

	memset(s, 0, sizeof(*s));
	reads_run(p, at_exit, with, all ? &memory : &none, s);
}

/* What is read is the same if these registers are all that there is; and where it is not, that is
 * said. */
static void registers_alone(void)
{
	static const uint8_t order[] = { 5, 4, 1, 2, 8, 9 };
	static struct reads_registers all, these;
	static struct reads_state want, has;
	unsigned int alone = 0, others = 0;

	for (int round = 0; round < ROUNDS / 10; round++) {
		struct read_plan p = { .nops = (uint16_t)(1 + random_word() % 4) };

		p.nentry = (uint16_t)(random_word() % (p.nops + 1u));
		for (unsigned int i = 0; i < p.nops; i++)
			p.ops[i] = some_op(i, i >= p.nentry);
		if (reads_check(&p))
			continue;
		bool at_exit = random_word() % 2;
		unsigned int n = reads_registers(&p, at_exit, order, ARRAY_SIZE(order));

		MUST(n <= ARRAY_SIZE(order));
		others += !n;
		alone += !!n;
		if (!n)
			continue;
		for (size_t i = 0; i < READS_GENERAL; i++) {
			all.general[i] = random_word();
			these.general[i] = 0;
		}
		for (unsigned int i = 0; i < n; i++)
			these.general[order[i]] = all.general[order[i]];
		run_with(&p, at_exit, &all, true, &want);
		run_with(&p, at_exit, &these, false, &has);
		MUST_EQ(has.used, want.used);
		MUST(!memcmp(has.capture, want.capture, want.used));
	}
	MUST(alone > 1000 && others > 1000);
}

int main(void)
{
	for (size_t i = 0; i < SIZE; i++)
		world[i] = (uint8_t)random_word();
	texts();
	lengths();
	MUST_EQ(signature_begin(&signature, EM_X86_64), 0);
	signature.nparams = 8;
	for (int i = 0; i < 8; i++)
		signature.params[i].place.kind = PLACE_PIECES;
	random_plans();
	signature_clear(&signature);
	random_signatures();
	registers_alone();
	return failures != 0;
}

/* SPDX-License-Identifier: MIT */
/* condition_world: one call with its values and memory, of which conditions are asked. */
#ifndef TESTS_UNIT_CONDITION_WORLD_H
#define TESTS_UNIT_CONDITION_WORLD_H

#include <elf.h>
#include <errno.h>

#include "tests/unit/check.h"
#include "values/compile.h"
#include "values/condition_compile.h"
#include "values/hand.h"
#include "values/places.h"

enum { BASE = 0x10000, SIZE = 0x2000 };

/* Registers of arguments, and of results, by their numbers in DWARF. */
enum { RDI = 5, RSI = 4, RDX = 1, RCX = 2, R8 = 8, R9 = 9, RAX = 0 };

static uint8_t world[SIZE];	/* memory at BASE; what follows cannot be read */

static size_t read_world(void *ctx, uint64_t at, void *buf, size_t n)
{
	if (at < BASE || at >= BASE + SIZE)
		return 0;
	n = MIN(n, BASE + SIZE - at);
	memcpy(buf, world + (at - BASE), n);
	return n;
}

static const struct reads_memory memory = { read_world, NULL };
static struct reads_registers regs;
static struct condition_facts facts;
static struct signature sig;
static struct read_plan plan;
static bool shown;		/* -a: the plan has all that is shown */

static int ranges(void *ctx, const char *glob, struct condition_range *v, size_t room, size_t *n)
{
	if (!strcmp(glob, "many"))
		return -E2BIG;
	if (strcmp(glob, "net_*") || room < 2)
		return -ENOENT;
	v[0] = (struct condition_range){ 0x1000, 0x1100 };
	v[1] = (struct condition_range){ 0x2000, 0x2100 };
	*n = 2;
	return 0;
}

static const struct condition_names names = { ranges, NULL, NULL };

static void by_hand(const char *text)
{
	struct hand_error error;
	size_t name;

	signature_clear(&sig);
	MUST_EQ(hand_parse(text, EM_X86_64, &sig, &name, &error), 0);
}

static int compile(const char *expr, struct condition *c, struct condition_error *e)
{
	int err;

	if (shown)
		reads_compile(&sig, &(struct compile_options){ .deep = 1 }, &plan);
	else
		plan = (struct read_plan){ .machine = sig.machine };
	err = condition_compile(expr, &sig, &plan, &names, c, e);
	if (!err) {
		MUST_EQ(condition_check(c), 0);
		MUST_EQ(reads_check(&plan), 0);
	}
	return err;
}

static struct condition condition;

static bool begin(const char *expr)
{
	struct condition_error e;
	int err = compile(expr, &condition, &e);

	if (err) {
		failures++;
		fprintf(stderr, "%s: %d: column %zu: %s\n", expr, err, e.column, e.what);
	}
	return !err;
}

/* How long a call has been open when it is asked before its exit. */
static uint64_t open_ns;

/* The entry's verdict, and at the exit with `result` that one's. */
static void expect(const char *expr, enum verdict entry, uint64_t result, enum verdict exit)
{
	static struct reads_state s;
	enum verdict got, at_exit;
	struct condition_facts begun = facts;

	begun.duration_ns = open_ns;
	for (int i = 0; i < 2; i++) {
		shown = i;
		if (!begin(expr))
			return;
		memset(&s, 0, sizeof(s));
		reads_run(&plan, false, &regs, &memory, &s);
		got = condition_run(&condition, false, &s, &begun);
		regs.general[RAX] = result;
		reads_run(&plan, true, &regs, &memory, &s);
		at_exit = condition_run(&condition, true, &s, &facts);
		if (got == entry && at_exit == exit)
			continue;
		failures++;
		fprintf(stderr, "%s%s: %d and %d, not %d and %d\n", expr, i ? " (-a)" : "", got,
			at_exit, entry, exit);
	}
}

static void passes(const char *expr)
{
	expect(expr, VERDICT_PASSES, 0, VERDICT_PASSES);
}

static void fails(const char *expr)
{
	expect(expr, VERDICT_FAILS, 0, VERDICT_FAILS);
}

/* It is false at the entry already, for it cannot be known, and so is its contrary. */
static void unknown(const char *expr)
{
	char contrary[256];

	snprintf(contrary, sizeof(contrary), "!(%s)", expr);
	fails(expr);
	fails(contrary);
}

static void wrong(const char *expr, int err, size_t column, const char *what)
{
	struct condition_error e = { 0 };
	struct read_plan before;
	struct condition c;
	int got;

	plan = (struct read_plan){ .machine = sig.machine };
	before = plan;
	got = condition_compile(expr, &sig, &plan, &names, &c, &e);
	if (got == err && e.column == column && !strcmp(e.what, what) &&
	    !memcmp(&plan, &before, sizeof(plan)))
		return;
	failures++;
	fprintf(stderr, "%s: %d, column %zu: %s\n", expr, got, e.column, e.what);
}

static void at_world(unsigned int at, const char *text)
{
	strcpy((char *)world + at, text);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * payload_reads: functions whose values are read, and whose callers are looked for, by a plan and
 * by tables that lie behind the session.
 */
#ifndef TESTS_UNIT_PAYLOAD_READS_H
#define TESTS_UNIT_PAYLOAD_READS_H

#include "tests/unit/payload_world.h"
#include "values/condition.h"
#include "values/reads.h"

enum { READS_FUNCS = 16, READS_PLANS = 1 << 12, READS_TABLES = 1 << 16, READS_LISTS = 256 };

/* The first argument, by its number in DWARF. */
#if defined(__x86_64__)
enum { READS_ARGUMENT = 5 };
#else
enum { READS_ARGUMENT = 0 };
#endif

/* The first argument, and the text that it leads to; at the exit some of that. */
static inline void reads_plan(struct capture_plan *p)
{
	const struct read_op none = { .length_index = READS_NONE, .if_index = READS_NONE,
				      .unit = 1, .source = READ_MEMORY, .role = READ_BEHIND };
	struct read_op ops[3] = { none, none, none };

	ops[0].source = READ_GENERAL;
	ops[0].role = 0;
	ops[0].index = READS_ARGUMENT;
	ops[0].cap = 8;
	ops[1].cap = 15;
	ops[1].flags = READ_TEXT;
	ops[2].cap = 4;
	ops[2].flags = READ_AT_EXIT;
	p->kept = 1;
	p->plan = (struct read_plan){ .nops = 3, .nentry = 2 };
	memcpy(p->plan.ops, ops, sizeof(ops));
	MUST(!reads_check(&p->plan));
}

/* Of calls of `func` it is all read. */
static inline void reads_begin(struct world *w, uint32_t func)
{
	uint64_t size = READS_TABLES + (uint64_t)w->s->nrings * (WALK_SIZE + CAPTURE_SIZE);
	uint8_t *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	MUST(at != MAP_FAILED && func < READS_FUNCS);
	w->s->callers_off = (uint64_t)at - (uint64_t)w->s;
	w->s->callers_size = READS_PLANS;
	w->s->plans_off = w->s->callers_off + READS_PLANS;
	w->s->plans_size = READS_TABLES - READS_PLANS;
	w->s->plans_funcs = READS_FUNCS;
	w->s->walks_off = w->s->callers_off + READS_TABLES;
	w->s->captures_off = w->s->walks_off + (uint64_t)w->s->nrings * WALK_SIZE;
	w->s->reads = READS_BY_CALL;
	*(struct callers *)at = (struct callers){
		.most = 20, .funcs = READS_FUNCS, .funcs_at = sizeof(struct callers),
		.lists_at = READS_LISTS, .most_modules = 1,
	};
	at[sizeof(struct callers) + func] = CALLERS_ENTRY;
	reads_plan((struct capture_plan *)(at + READS_PLANS + 64));
	((uint32_t *)(at + READS_PLANS))[func] = 64 / 8;
}

/* Of its calls those pass from now on whose first argument is `value`. */
static inline void reads_condition(struct world *w, uint64_t value)
{
	uint8_t *plans = (uint8_t *)w->s + w->s->plans_off;
	struct capture_plan *p = (struct capture_plan *)(plans + 64);
	struct condition *c = (struct condition *)(plans + 64 + sizeof(*p));

	c->nops = 1;
	c->ops[0] = (struct condition_op){ .code = CONDITION_TEST, .relation = RELATION_EQ,
					   .form = 8, .bits = 64, .number = value };
	MUST(!condition_check(c));
	p->condition = (uint32_t)((64 + sizeof(*p)) / 8);
}

/* A function that does `body` (may be NULL), recorded by these two routines. */
static inline probed_fn *reads_function(struct world *w, uint32_t func, probed_fn *body,
					uint32_t entry, uint32_t exit)
{
	probed_fn *f = (probed_fn *)here(w);

	emit_record(w, REC_ENTRY | (uint64_t)func << REC_FUNC_SHIFT, hot_begin + entry);
	if (body)
		emit_call(w, body);
	emit_record(w, REC_EXIT | (uint64_t)func << REC_FUNC_SHIFT, hot_begin + exit);
	emit_ret(w);
	return f;
}

#endif

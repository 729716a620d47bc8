/* SPDX-License-Identifier: MIT */
#include "injector/session/callers_later.h"

#include <errno.h>
#include <string.h>

/* The session's tables, as far as they are used. Everything there is hostile. */
struct later {
	struct callers_tables *tables;
	const struct segment *segment;
	const struct session *s;
	uint8_t *copy;		/* as large as they may become; owned */
	bool fresh;		/* there were none */
};

static int damaged(void)
{
	return fail(EBADMSG, "the session is damaged: its tables of callers are not as they "
		    "should be");
}

static struct callers *head_of(const struct later *l)
{
	return (struct callers *)l->copy;
}

static struct callers_module *list_of(const struct later *l, uint32_t which)
{
	return (struct callers_module *)(l->copy + callers_lists_at(l->s->plans_funcs)) +
		(uint64_t)which * CALLERS_MODULES;
}

static uint64_t begin_of(const struct later *l)
{
	return callers_lists_at(l->s->plans_funcs) +
		2 * CALLERS_MODULES * sizeof(struct callers_module);
}

static int read_part(const struct later *l, uint64_t from, uint64_t to)
{
	return segment_read(l->segment, l->s->callers_off + from, l->copy + from, to - from);
}

static int write_part(const struct later *l, uint64_t from, uint64_t to)
{
	return segment_write(l->segment, l->s->callers_off + from, l->copy + from, to - from);
}

static bool is_whole(const struct later *l, const struct callers_module *m)
{
	uint64_t size = l->s->callers_size;

	return m->rows_at <= size &&
		m->rows <= (size - m->rows_at) / (sizeof(uint32_t) + sizeof(uint16_t)) &&
		m->rules_at <= size &&
		m->rules <= (size - m->rules_at) / sizeof(struct callers_rule);
}

/* Behind all that one of the lists refers to something new may be. */
static int find_end(struct later *l)
{
	struct callers_tables *t = l->tables;

	t->used = begin_of(l);
	for (uint32_t which = 0; which < 2; which++)
		for (uint32_t i = 0; i < head_of(l)->modules[which]; i++) {
			const struct callers_module *m = &list_of(l, which)[i];

			if (!is_whole(l, m))
				return damaged();
			t->used = MAX(t->used, ALIGN_UP(m->rules_at + m->rules *
							sizeof(struct callers_rule), 8ull));
		}
	return t->used <= l->s->callers_size ? read_part(l, begin_of(l), t->used) : damaged();
}

static int read_tables(struct later *l)
{
	const struct callers *c = head_of(l);
	int err = read_part(l, 0, begin_of(l));

	l->fresh = !err && !c->funcs;
	if (err || l->fresh)
		return err;
	if (c->funcs != l->s->plans_funcs || c->funcs_at != sizeof(*c) ||
	    c->lists_at != callers_lists_at(c->funcs) || c->most_modules != CALLERS_MODULES ||
	    c->modules[0] > CALLERS_MODULES || c->modules[1] > CALLERS_MODULES)
		return damaged();
	l->tables->changes = c->changes;
	return find_end(l);
}

/* Does the session have the very rows and rules of this code? */
static bool is_same(const struct later *l, const struct callers_module *m,
		    const struct callers_code *code, const uint8_t *bytes)
{
	uint64_t rows = code->at.rows * (sizeof(uint32_t) + sizeof(uint16_t));

	return m->start == code->at.start && m->end == code->at.end && m->rows == code->at.rows &&
		m->rules == code->at.rules && !memcmp(l->copy + m->rows_at, bytes, rows) &&
		!memcmp(l->copy + m->rules_at, bytes + code->at.rules_at,
			m->rules * sizeof(struct callers_rule));
}

static int find_code(const struct later *l, struct callers_code *code)
{
	auto_free uint8_t *bytes = calloc(1, callers_code_size(code) + 1);
	uint32_t which = head_of(l)->changes & 1;

	if (!bytes)
		return fail(ENOMEM, "read how stacks are walked");
	callers_code_write(code, bytes, 0);
	for (uint32_t i = 0; i < head_of(l)->modules[which] && !code->written; i++) {
		const struct callers_module *m = &list_of(l, which)[i];

		if (!is_same(l, m, code, bytes))
			continue;
		code->at = *m;
		code->written = true;
	}
	return 0;
}

/* In memory, as for a session that begins. */
static void put_together(struct later *l, uint32_t most)
{
	struct session s = { 0 };
	struct session_map map = {
		.s = &s, .callers = l->copy,
		.shape = { .callers_funcs = l->s->plans_funcs, .callers = l->s->callers_size },
	};

	if (l->fresh)
		callers_begin(&map, l->s->plans_funcs, most);
	head_of(l)->most = MAX(head_of(l)->most, MIN(most, (uint32_t)CALLERS_MOST));
	callers_write(l->tables, &map);
}

/* `before`: what was used. */
static int write_tables(const struct later *l, uint64_t before)
{
	const struct callers *c = head_of(l);
	uint32_t which = c->changes & 1;
	uint64_t list = (uint64_t)((uint8_t *)list_of(l, which) - l->copy);
	uint64_t count = offsetof(struct callers, modules) + which * sizeof(c->modules[0]);
	int err = write_part(l, before, l->tables->used);			/* 1 */

	err = err ? err : write_part(l, list, list + c->modules[which] *
				     sizeof(struct callers_module));		/* 2 */
	err = err ? err : write_part(l, 0, offsetof(struct callers, changes));
	err = err ? err : write_part(l, count, count + sizeof(c->modules[0]));	/* 3 */
	return err ? err : write_part(l, offsetof(struct callers, changes),
				      offsetof(struct callers, modules));	/* 4 */
}

int callers_later(struct callers_tables *t, const struct segment *segment, const struct session *s,
		  uint32_t most)
{
	struct later l = { .tables = t, .segment = segment, .s = s };
	int err = begin_of(&l) <= s->callers_size && s->callers_size <= segment->size ? 0 :
		damaged();

	auto_free uint8_t *copy = err ? NULL : calloc(1, s->callers_size);
	l.copy = copy;
	if (!err && !copy)
		return fail(ENOMEM, "read how stacks are walked");
	err = err ? err : read_tables(&l);
	uint64_t before = l.fresh ? begin_of(&l) : t->used;

	for (size_t i = 0; i < t->n && !err && !l.fresh; i++)
		err = find_code(&l, &t->v[i]);
	if (err)
		return err;
	put_together(&l, most);
	return write_tables(&l, before);
}

int callers_later_choose(const struct segment *segment, const struct session *s, uint32_t func,
			 enum callers_of of)
{
	uint8_t byte = (uint8_t)of;

	if (func >= s->plans_funcs)
		return fail(ENOSPC, "the session has no room for callers of so many functions; stop, "
			    "and start with what is wanted");
	return segment_write(segment, s->callers_off + sizeof(struct callers) + func, &byte,
			     sizeof(byte));
}

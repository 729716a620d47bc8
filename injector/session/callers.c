/* SPDX-License-Identifier: MIT */
#include "injector/session/callers.h"

#include <errno.h>
#include <string.h>

#include "symbols/elf/debugfile.h"

enum {
	LATER = 8 << 20,	/* bytes for libraries that are loaded later */
	CODE_MOST = 4 << 20,	/* of a C library */
};

static bool is_same(const struct callers_code *c, const struct module *m)
{
	return c->dev == m->dev && c->ino == m->ino && c->range.start == m->maps[0].start;
}

static struct callers_code *find_code(const struct callers_tables *t, const struct module *m)
{
	for (size_t i = 0; i < t->n; i++)
		if (is_same(&t->v[i], m))
			return &t->v[i];
	return NULL;
}

/* A C library keeps no frame pointers as a rule: where it has no unwind information a walk ends. */
static int end_at_gaps(struct unwind_rows *r)
{
	const struct unwind_rule gap = { .base = UNWIND_STOP, .cfa = 1 };
	size_t first = r->nrules;
	struct unwind_rule *to = vec_push(r->rules, r->nrules, r->rules_cap);
	struct unwind_row *row = to ? vec_push(r->v, r->n, r->cap) : NULL;

	if (!row)
		return -ENOMEM;
	for (size_t i = 0; i < r->nrules; i++)
		if (r->rules[i].base == UNWIND_NONE)
			r->rules[i] = gap;
	memmove(r->v + 1, r->v, (r->n - 1) * sizeof(*r->v));
	r->v[0] = (struct unwind_row){ MIN(r->first, r->n > 1 ? r->v[1].at : r->first),
				       (uint16_t)first };
	return 0;
}

static int add_code(struct callers_tables *t, const struct module *m)
{
	struct callers_code *c = vec_push(t->v, t->n, t->cap);

	if (!c)
		return -ENOMEM;
	c->range = (struct range){ m->maps[0].start, m->maps[m->nmaps - 1].end };
	c->dev = m->dev;
	c->ino = m->ino;
	c->mapped = true;
	struct range mapped = { m->map_offset, m->map_offset + range_size(m->maps[0]) };
	int err = m->fd < 0 ? -EBADF :
		unwind_rows_open(m->fd, m->path, symbols_debug_root(), mapped, &c->rows);

	if (!err && m->is_system && !m->is_exe && !m->is_payload)
		err = end_at_gaps(&c->rows);
	if (err)
		fail_clear();
	return err == -ENOMEM ? err : 0;
}

int callers_read(struct callers_tables *t, const struct modules *mods)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < t->n; i++)
		t->v[i].mapped = t->v[i].signal;
	for (size_t i = 0; i < mods->n && !err; i++) {
		const struct module *m = &mods->v[i];
		struct callers_code *c = m->nmaps ? find_code(t, m) : NULL;

		if (c)
			c->mapped = true;
		else if (m->nmaps)
			err = add_code(t, m);
	}
	for (size_t i = 0; i < t->n; i++) {
		if (t->v[i].mapped)
			t->v[kept++] = t->v[i];
		else
			unwind_rows_clear(&t->v[i].rows);
	}
	t->n = kept;
	return err ? fail(ENOMEM, "read how stacks are walked") : 0;
}

/* ---- signals ------------------------------------------------------------- */

struct finding {
	struct callers_tables *tables;
	const struct target *target;
	const struct modules *mods;
};

static bool tells_of_signals(const struct callers_code *c)
{
	for (size_t i = 0; c && i < c->rows.nrules; i++)
		if (c->rows.rules[i].base == UNWIND_SIGNAL)
			return true;
	return false;
}

/* A handler returns to `at`, and so to behind a call that is none. */
static int add_signal(struct callers_tables *t, raddr_t at)
{
	const struct unwind_rule rule = {
		.base = UNWIND_SIGNAL, .cfa = frame_registers.sp, .ra = frame_registers.pc,
		.fp = frame_registers.fp, .link = frame_registers.link,
	};
	struct callers_code *c = vec_push(t->v, t->n, t->cap);

	if (!c)
		return -ENOMEM;
	c->range = (struct range){ at - 1, at + gadget_sigreturn.size };
	c->mapped = c->signal = true;
	struct unwind_row *row = vec_push(c->rows.v, c->rows.n, c->rows.cap);
	struct unwind_rule *to = vec_push(c->rows.rules, c->rows.nrules, c->rows.rules_cap);

	if (!row || !to)
		return -ENOMEM;
	*to = rule;
	return 0;
}

static bool may_return_there(const struct finding *f, const struct mapping *m)
{
	const struct module *mod = modules_at(f->mods, m->range.start);

	if (!m->exec || range_size(m->range) > CODE_MOST)
		return false;
	return strcmp(m->path, "[vdso]") == 0 ||
		(mod && mod->is_system && !tells_of_signals(find_code(f->tables, mod)));
}

static int find_signals(void *ctx, const struct mapping *m)
{
	const struct finding *f = ctx;
	auto_free uint8_t *code = may_return_there(f, m) ? malloc(range_size(m->range)) : NULL;
	const uint8_t *hit;

	if (!code)
		return 0;
	if (target_read(f->target, m->range.start, code, range_size(m->range)) < 0) {
		fail_clear();
		return 0;
	}
	hit = memmem(code, range_size(m->range), gadget_sigreturn.bytes, gadget_sigreturn.size);
	return hit && hit > code ?
		add_signal(f->tables, m->range.start + (raddr_t)(hit - code)) : 0;
}

bool callers_are_handled_at(const struct callers_tables *t, raddr_t at)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].signal && range_has(t->v[i].range, at))
			return true;
	return false;
}

int callers_find_signals(struct callers_tables *t, const struct target *target,
			 const struct modules *mods)
{
	struct finding f = { t, target, mods };
	int err = procfs_maps(target->pid, find_signals, &f);

	if (err != -ENOMEM)
		fail_clear();
	return err == -ENOMEM ? fail(ENOMEM, "read how stacks are walked") : 0;
}

/* ---- in the session ------------------------------------------------------ */

uint64_t callers_code_size(const struct callers_code *c)
{
	return ALIGN_UP(c->rows.n * (sizeof(uint32_t) + sizeof(uint16_t)), 8) +
		ALIGN_UP(c->rows.nrules * sizeof(struct callers_rule), 8);
}

uint64_t callers_lists_at(uint32_t nfuncs)
{
	return ALIGN_UP(sizeof(struct callers) + nfuncs, 8);
}

/* Where the first rows are. */
static uint64_t begin_at(uint32_t nfuncs)
{
	return callers_lists_at(nfuncs) + 2 * CALLERS_MODULES * sizeof(struct callers_module);
}

uint64_t callers_size(const struct callers_tables *t, uint32_t nfuncs)
{
	uint64_t ret = begin_at(nfuncs) + LATER;

	for (size_t i = 0; i < t->n; i++)
		ret += callers_code_size(&t->v[i]);
	return ret;
}

/* Rules are the same on both sides. */
#define SAME(name, base) _Static_assert((int)UNWIND_##name == (int)CALLERS_##base, #base)
SAME(NONE, BY_FP);
SAME(END, END);
SAME(STOP, STOP);
SAME(SP, SP);
SAME(FP, FP);
SAME(FP_AT, FP_AT);
SAME(PLT, PLT);
SAME(SIGNAL, SIGNAL);
SAME(FP_SAME, FP_SAME);
SAME(FP_GONE, FP_GONE);
SAME(FP_BY_FP, FP_BY_FP);
SAME(LINKED, LINKED);
#undef SAME
_Static_assert(sizeof(struct callers_rule) == sizeof(struct unwind_rule), "rules");

void callers_begin(struct session_map *m, uint32_t nfuncs, uint32_t most)
{
	struct callers *c = (struct callers *)m->callers;

	*c = (struct callers){ .most = MIN(most, (uint32_t)CALLERS_MOST), .funcs = nfuncs,
			       .funcs_at = sizeof(*c), .lists_at = callers_lists_at(nfuncs),
			       .most_modules = CALLERS_MODULES };
	m->s->planned = 1;
}

void callers_code_write(struct callers_code *c, uint8_t *base, uint64_t at)
{
	const struct unwind_rows *r = &c->rows;
	uint32_t *rows = (uint32_t *)(base + at), n = 0;
	raddr_t start = r->first, end = start + range_size(c->range);

	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].at >= start && r->v[i].at < end &&
		    r->v[i].at - start <= UINT32_MAX)
			rows[n++] = (uint32_t)(r->v[i].at - start);
	uint16_t *rules = (uint16_t *)(rows + n);

	for (size_t i = 0, k = 0; k < n; i++)
		if (r->v[i].at >= start)
			rules[k++] = r->v[i].rule;
	c->at = (struct callers_module){
		.start = c->range.start, .end = c->range.end, .rows_at = at, .rows = n,
		.rules_at = at + ALIGN_UP(r->n * (sizeof(*rows) + sizeof(*rules)), 8),
		.rules = (uint32_t)r->nrules,
	};
	if (r->nrules)
		memcpy(base + c->at.rules_at, r->rules, r->nrules * sizeof(*r->rules));
}

static int by_start(const void *a, const void *b)
{
	const struct callers_module *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

size_t callers_write(struct callers_tables *t, struct session_map *m)
{
	/* What is written there may be changed, so none of it is read. */
	uint32_t nfuncs = m->shape.callers_funcs, next = (t->changes + 1) % 2, n = 0;
	struct callers_module *lists = (void *)(m->callers + callers_lists_at(nfuncs));
	struct callers_module *list = lists + (uint64_t)next * CALLERS_MODULES;
	struct callers *c = (struct callers *)m->callers;
	size_t left = 0;

	t->used = t->used ?: begin_at(nfuncs);
	for (size_t i = 0; i < t->n; i++) {
		struct callers_code *code = &t->v[i];
		bool fits = callers_code_size(code) <= m->shape.callers - t->used;

		if (!code->written && fits) {
			callers_code_write(code, m->callers, t->used);
			code->written = true;
			t->used += callers_code_size(code);
		}
		left += !code->written;
		if (code->written && n < CALLERS_MODULES)
			list[n++] = code->at;
	}
	vec_sort(list, n, by_start);
	c->modules[next] = n;
	__atomic_store_n(&c->changes, ++t->changes, __ATOMIC_RELEASE);
	return left;
}

void callers_choose(struct session_map *m, uint32_t func, enum callers_of of)
{
	uint8_t *funcs = m->callers + sizeof(struct callers);

	if (func < m->shape.callers_funcs)
		__atomic_store_n(&funcs[func], (uint8_t)of, __ATOMIC_RELEASE);
}

void callers_clear(struct callers_tables *t)
{
	for (size_t i = 0; i < t->n; i++)
		unwind_rows_clear(&t->v[i].rows);
	free(t->v);
	*t = (struct callers_tables){ 0 };
}

/* SPDX-License-Identifier: MIT */
/*
 * indirect: where can the indirect jumps of a function lead?
 *
 * Compilers make two kinds: a jump table, whose targets lie inside the
 * function, and a tail call through a pointer, which is an exit. To take the
 * one for the other would record an exit of a call that goes on, or miss one
 * that ended; so whatever is not plainly either is unsure, and the function
 * keeps its entry only.
 *
 * Tables have no length that could be trusted. They are read until an entry
 * leads out of the function; an entry too many is one more place that jumps
 * may not cover, never one too few.
 */
#include <errno.h>
#include <string.h>

#include "plan/impl.h"

enum {
	TABLE_MAX = 1 << 16,	/* entries */
	NEAR = 32,		/* instructions between a table's address and
				 * its jump that leave no doubt */
};

/* The step that names a table. */
struct table {
	size_t step;
	raddr_t base;
};

struct tables {
	struct table *v;
	size_t n, cap;
};

/*
 * Take an address as a table's entry if it can be one. An entry for what cannot
 * happen may lead to the end of a piece, where there is nothing. One that leads
 * to a fragment nobody is known to own makes the body incomplete.
 */
static bool take_entry(struct body *b, raddr_t a)
{
	const struct func *f;
	bool inside = false;

	for (size_t i = 0; i < b->npieces && !inside; i++)
		inside = a >= b->pieces[i].start && a <= b->pieces[i].end;
	if (!inside) {
		f = symbols_func_at(b->impl->symbols, a);
		if (!f || !ground_is_fragment(b->impl, f) || f->parent >= 0)
			return false;
		body_doubt(b, REFUSED_JUMP_TABLE);
	}
	if (body_is_entry(b, a))
		b->refusal = REFUSED_LOOP_ENTRY;
	ground_add_target(b->impl, a);
	return true;
}

/* A table of 32-bit distances from its own start. */
static size_t read_relative(struct body *b, raddr_t table)
{
	size_t n = 0;

	for (; n < TABLE_MAX; n++) {
		int32_t d;

		if (symbols_read(b->impl->symbols, table + n * sizeof(d), &d, sizeof(d)) ||
		    !take_entry(b, table + (int64_t)d))
			break;
	}
	return n;
}

/* A table of 64-bit addresses. */
static size_t read_absolute(struct body *b, raddr_t table)
{
	size_t n = 0;

	for (; n < TABLE_MAX; n++) {
		raddr_t a;

		if (symbols_read(b->impl->symbols, table + n * sizeof(a), &a, sizeof(a)) ||
		    !take_entry(b, a))
			break;
	}
	return n;
}

static int find_tables(struct body *b, struct tables *ret)
{
	for (size_t i = 0; i < b->nsteps; i++) {
		const struct insn *in = &b->steps[i].insn;

		if (!(in->flags & INSN_PCREL) || in->kind != INSN_PLAIN ||
		    !read_relative(b, in->ref))
			continue;
		struct table *t = vec_push(ret->v, ret->n, ret->cap);

		if (!t)
			return -ENOMEM;
		*t = (struct table){ .step = i, .base = in->ref };
	}
	return 0;
}

/* Does a table's address stand shortly before this step? */
static bool has_near(const struct tables *t, size_t step)
{
	size_t before = vec_prefix(t->n, i, t->v[i].step < step);

	return before && step - t->v[before - 1].step <= NEAR;
}

/* Words of the file that hold addresses within the function: a table of
 * labels, as computed gotos have. They are targets already. Where exceptions
 * land in the function the addresses may be those of landing pads. */
static bool has_labels(const struct body *b)
{
	const struct symbols *syms = b->impl->symbols;
	struct range r = b->func->range;
	size_t next;

	if (b->func->flags & FUNC_LSDA)
		return false;
	next = vec_prefix(syms->npointers, i, syms->pointers[i] <= r.start);
	return next < syms->npointers && syms->pointers[next] < r.end;
}

/* Is the stack here as it was at the entry? Only then can a jump be a tail
 * call. -ENOENT if nothing says so. */
static int frame_is_gone(const struct body *b, raddr_t pc)
{
	const struct symbols *syms = b->impl->symbols;
	int64_t here, entry;
	int err = symbols_cfa_offset(syms, pc, &here);

	if (err == -ENOTSUP)	/* a frame pointer is in use */
		return 0;
	if (err || symbols_cfa_offset(syms, b->func->range.start, &entry))
		return -ENOENT;
	return here == entry;
}

/* Where does the indirect jump `step` lead? Takes from `spare`. */
static enum indirect judge_jump(struct body *b, const struct tables *tables,
				size_t step, size_t *spare)
{
	const struct insn *in = &b->steps[step].insn;
	bool may_be_table = in->flags & INSN_NOTRACK ||
		!(b->steps[0].insn.flags & INSN_LANDING);

	if (in->flags & INSN_SLOT)	/* through the linkage table */
		return INDIRECT_TAIL;
	if (in->flags & INSN_INDEXED && in->ref)
		return read_absolute(b, in->ref) ? INDIRECT_INSIDE : INDIRECT_UNSURE;

	int gone = in->flags & (INSN_NOTRACK | INSN_INDEXED) ? 0 :
		frame_is_gone(b, in->pc);

	/* Where landing pads are in use a jump table's jump is marked. */
	if (gone == 1 && !has_labels(b) && (!tables->n || !may_be_table))
		return INDIRECT_TAIL;
	if (has_near(tables, step))
		return INDIRECT_INSIDE;
	if (gone != 0)
		return INDIRECT_UNSURE;
	if (has_labels(b))
		return INDIRECT_INSIDE;
	if (*spare == 0)
		return INDIRECT_UNSURE;
	--*spare;
	return INDIRECT_INSIDE;
}

static int by_base(const void *a, const void *b)
{
	const struct table *x = a, *y = b;

	return x->base < y->base ? -1 : x->base > y->base;
}

static int by_step(const void *a, const void *b)
{
	const struct table *x = a, *y = b;

	return x->step < y->step ? -1 : x->step > y->step;
}

/*
 * Tables that no jump stands near to. A compiler loads an address that a loop
 * needs before the loop, so these may be the tables of jumps that have none
 * near.
 */
static size_t count_spare(const struct body *b, struct tables *t)
{
	size_t distinct = 0, near = 0;

	if (!t->n)
		return 0;
	qsort(t->v, t->n, sizeof(*t->v), by_base);
	for (size_t i = 0; i < t->n; i++)
		distinct += i == 0 || t->v[i].base != t->v[i - 1].base;
	qsort(t->v, t->n, sizeof(*t->v), by_step);
	for (size_t i = 0; i < b->nsteps; i++)
		near += b->steps[i].insn.kind == INSN_JUMP_INDIRECT && has_near(t, i);
	return distinct > near ? distinct - near : 0;
}

static int judge_jumps(struct body *b, enum indirect *ret)
{
	struct tables tables = { 0 };
	size_t n = 0;
	int err = find_tables(b, &tables);
	size_t spare = count_spare(b, &tables);

	for (size_t i = 0; i < b->nsteps && !err; i++)
		if (b->steps[i].insn.kind == INSN_JUMP_INDIRECT)
			ret[n++] = judge_jump(b, &tables, i, &spare);
	free(tables.v);
	return err;
}

int indirect_resolve(struct body *b, enum indirect **ret)
{
	size_t jumps = 0;

	for (size_t i = 0; i < b->nsteps; i++)
		jumps += b->steps[i].insn.kind == INSN_JUMP_INDIRECT;
	*ret = calloc(jumps + 1, sizeof(**ret));
	if (!*ret)
		return fail(ENOMEM, "plan %s", b->func->name);
	return jumps ? judge_jumps(b, *ret) : 0;
}

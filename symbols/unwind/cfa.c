/* SPDX-License-Identifier: MIT */
/* cfa: how far is the frame's fixed address, the CFA, from the stack pointer here? */
#include "symbols/unwind/unwind.h"

/* Machines of which we know: DWARF's number of the stack pointer, and where the
 * CFA is when a function is entered. */
static const struct machine {
	uint16_t machine;
	uint8_t stack_pointer;
	int64_t entry_offset;
} machines[] = {
	{ EM_X86_64, 7, 8 },
	{ EM_AARCH64, 31, 0 },
};

static const struct machine *machine_of(const struct unwind *u)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (machines[i].machine == u->machine)
			return &machines[i];
	return NULL;
}

/* What a program has said, from a place on up to where it says something else. */
struct row {
	raddr_t from;
	int64_t offset;		/* from the stack pointer; NOT_KNOWN */
};

enum { ROWS = 1024 };
static const int64_t NOT_KNOWN = INT64_MIN;

/*
 * A function is mostly asked of again, a little further on: what one thread has asked of last. Of
 * a program with more rows than there is room for only the last are there.
 */
struct asked {
	uint64_t id;		/* the unwind's */
	const struct fde *fde;
	struct cfa_run run;
	bool over;		/* no more rows come */
	struct row rows[ROWS];
	size_t nrows;
};

static void ask_begin(struct asked *a, const struct unwind *u, const struct fde *fde)
{
	a->id = u->id;
	a->fde = fde;
	a->nrows = 0;
	a->over = !fde->program || u->cies[fde->cie].bad;
	a->run.at = fde->range.start;
	a->run.nkept = 0;
	if (a->over) {
		a->rows[a->nrows++] = (struct row){ a->run.at, NOT_KNOWN };
		return;
	}
	a->run.cie = &u->cies[fde->cie];
	a->run.now = a->run.cie->initial;
	a->run.c = (struct cursor){ .p = fde->program, .end = fde->program + fde->size,
				    .addr = u->addr + (raddr_t)(fde->program - u->copy) };
}

static void ask_on(struct asked *a, int stack_pointer)
{
	struct cfa_run *r = &a->run;
	raddr_t from = r->at;
	enum cfa_ran ran = cfa_run(r);
	bool known = ran != CFA_RAN_BAD && r->now.known && r->now.reg == (uint64_t)stack_pointer;
	int64_t offset = known ? r->now.offset : NOT_KNOWN;

	a->over = ran != CFA_RAN_ROW;
	if (a->nrows && a->rows[a->nrows - 1].offset == offset)
		return;
	if (a->nrows == ROWS)
		a->nrows = 0;
	a->rows[a->nrows++] = (struct row){ from, offset };
}

/* As unwind_find. */
static const struct fde *ask_find(const struct asked *a, const struct unwind *u, raddr_t pc)
{
	const struct fde *fde = a->id == u->id ? a->fde : NULL;
	bool same = fde && range_has(fde->range, pc) &&
		(fde + 1 == u->fdes + u->nfdes || fde[1].range.start > pc);

	return same ? fde : unwind_find(u, pc);
}

int unwind_cfa(const struct unwind *u, raddr_t pc, int64_t *ret)
{
	static __thread struct asked a;
	const struct machine *m = machine_of(u);
	const struct fde *fde = ask_find(&a, u, pc);

	if (!fde || !m)
		return fde ? -ENOTSUP : -ENOENT;
	if (a.id != u->id || a.fde != fde || (a.nrows && a.rows[0].from > pc))
		ask_begin(&a, u, fde);
	while (!a.over && a.run.at <= pc)
		ask_on(&a, m->stack_pointer);
	size_t n = vec_prefix(a.nrows, i, a.rows[i].from <= pc);

	if (a.rows[n - 1].offset == NOT_KNOWN)
		return -ENOTSUP;
	*ret = a.rows[n - 1].offset;
	return 0;
}

bool unwind_is_entered(const struct unwind *u, const struct fde *fde)
{
	const struct machine *m = machine_of(u);
	int64_t offset;

	return !m || (!unwind_cfa(u, fde->range.start, &offset) &&
		      offset == m->entry_offset);
}

int unwind_cfa_rule(const struct unwind *u, raddr_t pc, uint64_t *reg, int64_t *offset)
{
	const struct fde *fde = unwind_find(u, pc);
	struct cfa_run r;
	enum cfa_ran ran;

	if (!fde || !fde->program || u->cies[fde->cie].bad)
		return -ENOENT;
	r.cie = &u->cies[fde->cie];
	r.at = fde->range.start;
	r.now = r.cie->initial;
	r.nkept = 0;
	r.c = (struct cursor){ .p = fde->program, .end = fde->program + fde->size,
			       .addr = u->addr + (raddr_t)(fde->program - u->copy) };
	do
		ran = cfa_run(&r);
	while (ran == CFA_RAN_ROW && r.at <= pc);
	*reg = r.now.reg;
	*offset = r.now.offset;
	return ran != CFA_RAN_BAD && r.now.known ? 0 : -ENOTSUP;
}

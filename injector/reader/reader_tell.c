/* SPDX-License-Identifier: MIT */
/* reader_tell: what is told of a call? */
#include "injector/reader/reader_impl.h"

/* What was read belongs to the record behind it, and to what that says of its function. */
static bool has_values(const struct lane *l, enum event_kind kind, uint32_t func)
{
	return l->ncapture && l->captured == func &&
		(kind == EVENT_ENTRY || kind == EVENT_EXIT || kind == EVENT_MARK);
}

/* As which function is it told? */
static uint32_t told_as(const struct reader *r, uint32_t func)
{
	uint32_t as = r->funcs[func].as;

	return as && as < r->nfuncs ? as : func;
}

struct event tell_of(const struct reader *r, const struct lane *l, enum event_kind kind,
		     uint32_t func)
{
	bool values = has_values(l, kind, func);
	bool called = l->called && l->callee == func &&
		(kind == EVENT_ENTRY || kind == EVENT_MARK);

	return (struct event){
		.capture = values ? l->capture : NULL,
		.ncapture = values ? (uint16_t)l->ncapture : 0,
		.callers = called ? l->callers : NULL,
		.ncallers = called ? l->ncallers : 0, .cut = called ? l->callers_cut : 0,
		.tsc = l->last, .func = told_as(r, func), .pid = l->pid, .tid = l->tid,
		.kind = (uint8_t)kind,
		.thread = l->fiber ? NO_THREAD : l->thread,
		.stack = l->fiber ? r->fibers[l->fiber_at].number :
			 l->nstacks ? l->stacks[l->current].number : 0,
	};
}

void tell_event(struct reader *r, const struct event *e)
{
	if (r->err)
		return;
	r->delivered++;
	if (r->mixture)
		switches_before(r, e);
	r->err = r->err ?: r->each(r->ctx, e);
	if (r->mixture)
		switches_after(r, e);
}

void tell_one(struct reader *r, struct lane *l, enum event_kind kind,
		   uint32_t func, uint64_t lost)
{
	struct event e = tell_of(r, l, kind, func);

	e.lost = lost;
	tell_event(r, &e);
}

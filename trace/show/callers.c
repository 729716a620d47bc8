/* SPDX-License-Identifier: MIT */
#include "trace/show/callers.h"

#include <stdio.h>
#include <string.h>

#include "trace/output/put.h"

/* `left`: callers, with this one, that there is to be room for. */
static void add_caller(const struct caller_names *names, uint64_t address, size_t left,
		       struct shown_callers *ret)
{
	struct caller c;

	names->find(names->ctx, address, &c);
	for (const char *name = c.inlined; name && *name; name += strlen(name) + 1)
		if (ret->n + left < SHOWN_CALLERS)
			ret->v[ret->n++] = (struct shown_caller){
				{ .address = address, .func = name, .module = c.module }, true };
	ret->v[ret->n++] = (struct shown_caller){ .caller = c };
}

void shown_callers_take(const struct caller_names *names, const struct call *c,
			struct shown_callers *ret)
{
	ret->cut = c->cut;
	size_t n = c->callers ? callers_sound(names, c->callers,
					      MIN((size_t)c->ncallers, (size_t)CALLERS_MOST),
					      &ret->cut) : 0;

	ret->n = 0;
	for (size_t i = 0; i < n; i++)
		add_caller(names, c->callers[i], n - i, ret);
}

size_t caller_room(const struct shown_caller *s)
{
	const struct caller *c = &s->caller;

	return CALLER_ROOM + (c->func ? strlen(c->func) : 0) + (c->module ? strlen(c->module) : 0);
}

char *put_caller(char *p, const struct shown_caller *s)
{
	const struct caller *c = &s->caller;

	if (c->func)
		p = put_text(p, c->func);
	else
		p += sprintf(p, "0x%llx", (unsigned long long)(c->address & ~CALLERS_EXACT));
	if (s->inlined)
		p = put_text(p, " [inlined]");
	else if (c->func && c->offset)
		p += sprintf(p, "+0x%llx", (unsigned long long)c->offset);
	if (!c->module)
		return p;
	p = put_text(put_text(p, " ("), c->module);
	if (!c->func)
		p += sprintf(p, "+0x%llx", (unsigned long long)c->offset);
	return put_text(p, ")");
}

/* SPDX-License-Identifier: MIT */
#include "trace/show/callers.h"

#include <stdio.h>
#include <string.h>

#include "trace/output/put.h"

void shown_callers_take(const struct caller_names *names, const struct call *c,
			struct shown_callers *ret)
{
	ret->cut = c->cut;
	ret->n = c->callers ? callers_sound(names, c->callers,
					    MIN((size_t)c->ncallers, ARRAY_SIZE(ret->v)),
					    &ret->cut) : 0;
	for (size_t i = 0; i < ret->n; i++)
		names->find(names->ctx, c->callers[i], &ret->v[i]);
}

size_t caller_room(const struct caller *c)
{
	return CALLER_ROOM + (c->func ? strlen(c->func) : 0) + (c->module ? strlen(c->module) : 0);
}

char *put_caller(char *p, const struct caller *c)
{
	if (c->func)
		p = put_text(p, c->func);
	else
		p += sprintf(p, "0x%llx", (unsigned long long)(c->address & ~CALLERS_EXACT));
	if (c->func && c->offset)
		p += sprintf(p, "+0x%llx", (unsigned long long)c->offset);
	if (!c->module)
		return p;
	p = put_text(put_text(p, " ("), c->module);
	if (!c->func)
		p += sprintf(p, "+0x%llx", (unsigned long long)c->offset);
	return put_text(p, ")");
}

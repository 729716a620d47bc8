/* SPDX-License-Identifier: MIT */
/* parts: of which functions are calls counted of which a part is in the record only? */
#include "trace/output/parts.h"

void parts_add(struct parts *p, const char *name, uint64_t calls)
{
	if (!calls)
		return;
	output_printf(p->out, "%s%s %llu", p->any ? ", " :
		      "# begun before the record or still open at its end, and counted as far as "
		      "they are in it: ", name, (unsigned long long)calls);
	p->any = true;
}

void parts_end(const struct parts *p)
{
	if (p->any)
		output_printf(p->out, "\n");
}

/* SPDX-License-Identifier: MIT */
/* parts: of which functions are there calls of which not all is known? */
#include "trace/output/parts.h"

const char parts_of_record[] = "begun before the record or still open at its end, and counted as "
			       "far as they are in it";
const char parts_unknown[] = "in the total, but in neither cpu nor wait, for it is not known when "
			     "their threads had a processor";

void parts_add(struct parts *p, const char *name, uint64_t calls)
{
	if (!calls)
		return;
	if (!p->any)
		output_printf(p->out, "# %s", p->what);
	output_printf(p->out, "%s%s %llu", p->any ? ", " : ": ", name, (unsigned long long)calls);
	p->any = true;
}

void parts_end(const struct parts *p)
{
	if (p->any)
		output_printf(p->out, "\n");
}

void parts_missing(struct output *out, uint64_t lost, uint64_t disarmed)
{
	if (lost)
		output_printf(out, "# %llu event%s lost as this was recorded: calls are missing, and their "
			      "time is SELF of those around them\n", (unsigned long long)lost,
			      lost == 1 ? " was" : "s were");
	if (disarmed)
		output_printf(out, "# %llu function%s taken out meanwhile (--max-overhead): later calls are "
			      "missing\n", (unsigned long long)disarmed, disarmed == 1 ? " was" : "s were");
}

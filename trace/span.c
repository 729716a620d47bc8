/* SPDX-License-Identifier: MIT */
/* span: how is a time printed, in ten columns? */
#include "trace/span.h"

#include "trace/put.h"

#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define RED "\033[31m"
#define RESET "\033[0m"

struct span_unit {
	uint64_t small;		/* what stands behind the point, in ns */
	uint64_t limit;		/* from here on the next unit is used */
	uint64_t parts;		/* of the small in one of this unit */
	const char *name, *color;
};

/* As in uftrace: three digits behind the point, whatever the unit is. */
static const struct span_unit units[] = {
	{ 1, 1000000, 1000, " us", "" },
	{ 1000, 1000000000, 1000, " ms", GREEN },
	{ 1000000, 60000000000, 1000, "  s", YELLOW },
	{ 1000000000, 3600000000000, 60, "  m", RED },
	{ 60000000000, UINT64_MAX, 60, "  h", RED },
};

char *put_span(char *p, uint64_t ns, bool color)
{
	const struct span_unit *u = units;

	while (ns >= u->limit && u->limit != UINT64_MAX)
		u++;
	p = put_number(p, ns / u->small / u->parts, 3, ' ');
	*p++ = '.';
	p = put_number(p, ns / u->small % u->parts, 3, '0');
	if (!color || !*u->color)
		return put_text(p, u->name);
	return put_text(put_text(put_text(p, u->color), u->name), RESET);
}

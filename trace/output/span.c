/* SPDX-License-Identifier: MIT */
/* span: how is a time printed, in ten columns? */
#include "trace/output/span.h"

#include "trace/output/put.h"

#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define RED "\033[31m"
#define RESET "\033[0m"

struct span_unit {
	uint64_t small;		/* what stands behind the point, in ns */
	uint64_t limit;		/* from here on the next unit is used */
	const char *name, *color;
};

/* As in uftrace: three digits behind the point, whatever the unit is. */
static const struct span_unit units[] = {
	{ 1, 1000000, " us", "" },
	{ 1000, 1000000000, " ms", GREEN },
	{ 1000000, 1000000000000, "  s", YELLOW },
};

/* What takes longer than 1000 seconds is read by people: in two whole numbers, and no unit
 * that might be taken for a shorter one. */
static char *put_long(char *p, uint64_t seconds)
{
	bool hours = seconds >= 3600;
	uint64_t small = hours ? seconds / 60 : seconds;

	p = put_number(p, small / 60, 3, ' ');
	p = put_text(p, hours ? "h " : "min ");
	p = put_number(p, small % 60, 2, '0');
	return put_text(p, hours ? "min" : "s");
}

char *put_span(char *p, uint64_t ns, bool color)
{
	const struct span_unit *u = units, *end = units + ARRAY_SIZE(units);

	while (u < end && ns >= u->limit)
		u++;
	if (u == end) {
		p = put_long(put_text(p, color ? RED : ""), ns / 1000000000);
		return put_text(p, color ? RESET : "");
	}
	p = put_number(p, ns / u->small / 1000, 3, ' ');
	*p++ = '.';
	p = put_number(p, ns / u->small % 1000, 3, '0');
	if (!color || !*u->color)
		return put_text(p, u->name);
	return put_text(put_text(put_text(p, u->color), u->name), RESET);
}

char *put_no_span(char *p)
{
	return put_text(p, "         -");
}

/* SPDX-License-Identifier: MIT */
#include "trace/show/filter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* In the largest unit that leaves no fraction. */
static void put_time(FILE *f, uint64_t ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 } };
	size_t i = 0;

	while (ns % units[i].ns)
		i++;
	fprintf(f, " -t %" PRIu64 "%s", ns / units[i].ns, units[i].name);
}

char *filter_text(const struct about_filter *filter)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	if (filter->min_duration)
		put_time(f, filter->min_duration);
	if (filter->depth)
		fprintf(f, " -D %" PRIu64, filter->depth);
	if (filter->when)
		fprintf(f, " -w '%s'", filter->when);
	if (!filter->min_duration && !filter->depth && !filter->when)
		fputs(" -", f);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	for (char *p = text; *p; p++)
		*p = (unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p;
	memmove(text, text + 1, size);
	return text;
}

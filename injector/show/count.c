/* SPDX-License-Identifier: MIT */
/* count: how often was each function called? */
#include "injector/show/counts.h"

#include <string.h>

#include "trace/show/json.h"

static int most_first(const void *a, const void *b, void *ctx)
{
	const struct counts *c = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (c->now.calls[x] != c->now.calls[y])
		return c->now.calls[x] < c->now.calls[y] ? 1 : -1;
	return strcmp(c->funcs[x].name, c->funcs[y].name);
}

static void print_json(const struct reader_func *f, uint64_t calls, struct output *out)
{
	output_printf(out, "{\"type\":\"count\",");
	json_func(out, f);
	output_printf(out, ",\"calls\":%llu}\n", (unsigned long long)calls);
}

void count_print(struct counts *c, struct output *out)
{
	size_t n = counts_sort(c, most_first);

	if (!c->options->json)
		output_printf(out, "# %18s  FUNCTION\n", "CALLS");
	for (size_t i = 0; i < n; i++) {
		const struct reader_func *f = &c->funcs[c->order[i]];
		uint64_t calls = c->now.calls[c->order[i]];

		if (c->options->json)
			print_json(f, calls, out);
		else
			output_printf(out, "  %18llu  %s\n", (unsigned long long)calls, f->name);
	}
}

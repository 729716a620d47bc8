/* SPDX-License-Identifier: MIT */
/* counts: how often was each function called, where the target itself counts? */
#include "injector/counts.h"

#include <errno.h>
#include <string.h>

#include "trace/json.h"

/* For functions of libraries that are loaded later. */
enum { LATER_FUNCS = 1 << 15 };

struct counts {
	const struct reader *reader;
	const struct reader_func *funcs;
	size_t nfuncs;
	uint64_t *calls;	/* by function id */
	uint32_t *order;	/* ids as they are printed */
};

uint64_t counts_room(uint64_t nfuncs)
{
	return ALIGN_UP((nfuncs + LATER_FUNCS) * sizeof(uint64_t), SUBBUF_SIZE);
}

int counts_name(struct counts *c, const struct reader_func *funcs, size_t nfuncs)
{
	uint64_t *calls = calloc(nfuncs + 1, sizeof(*calls));
	uint32_t *order = calloc(nfuncs + 1, sizeof(*order));

	if (!calls || !order) {
		free(calls);
		free(order);
		return fail(ENOMEM, "count the calls of %zu functions", nfuncs);
	}
	free(c->calls);
	free(c->order);
	c->calls = calls;
	c->order = order;
	c->funcs = funcs;
	c->nfuncs = nfuncs;
	return 0;
}

int counts_new(const struct reader *r, const struct reader_func *funcs, size_t nfuncs,
	       struct counts **ret)
{
	struct counts *c = calloc(1, sizeof(*c));
	int err = c ? counts_name(c, funcs, nfuncs) : fail(ENOMEM, "count calls");

	if (err) {
		counts_free(c);
		return err;
	}
	c->reader = r;
	*ret = c;
	return 0;
}

void counts_free(struct counts *c)
{
	if (!c)
		return;
	free(c->calls);
	free(c->order);
	free(c);
}

uint64_t counts_take(struct counts *c)
{
	uint64_t all = 0;

	reader_counts(c->reader, c->calls, c->nfuncs);
	for (size_t i = 0; i < c->nfuncs; i++)
		all += c->calls[i];
	return all;
}

static int most_first(const void *a, const void *b, void *ctx)
{
	const struct counts *c = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (c->calls[x] != c->calls[y])
		return c->calls[x] < c->calls[y] ? 1 : -1;
	return strcmp(c->funcs[x].name, c->funcs[y].name);
}

static size_t sort(struct counts *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nfuncs; i++)
		if (c->calls[i])
			c->order[n++] = (uint32_t)i;
	qsort_r(c->order, n, sizeof(*c->order), most_first, c);
	return n;
}

static void print_json(const struct reader_func *f, uint64_t calls, struct output *out)
{
	output_printf(out, "{\"type\":\"count\",\"func\":");
	json_string(out, f->name);
	output_printf(out, ",\"module\":");
	json_string(out, f->module);
	output_printf(out, ",\"calls\":%llu}\n", (unsigned long long)calls);
}

void counts_print(struct counts *c, struct output *out, bool json)
{
	size_t n = sort(c);

	if (!json)
		output_printf(out, "# %18s  FUNCTION\n", "CALLS");
	for (size_t i = 0; i < n; i++) {
		const struct reader_func *f = &c->funcs[c->order[i]];
		uint64_t calls = c->calls[c->order[i]];

		if (json)
			print_json(f, calls, out);
		else
			output_printf(out, "  %18llu  %s\n", (unsigned long long)calls, f->name);
	}
}

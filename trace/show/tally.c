/* SPDX-License-Identifier: MIT */
#include "trace/show/tally.h"

#include <errno.h>
#include <string.h>

enum { INDEX = 1 << 15 };	/* a power of 2, more than twice as large as TALLY_MOST */

void tally_clear(struct tally *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->v[i].text);
	free(t->v);
	free(t->index);
	*t = (struct tally){ 0 };
}

static uint32_t *find(const struct tally *t, uint32_t list, const char *text)
{
	uint64_t h = 14695981039346656037u ^ list;

	for (const char *p = text; *p; p++)
		h = (h ^ (unsigned char)*p) * 1099511628211u;
	uint32_t i = (uint32_t)(h ^ h >> 32) & (INDEX - 1);

	for (; t->index[i]; i = (i + 1) & (INDEX - 1)) {
		const struct tallied *v = &t->v[t->index[i] - 1];

		if (v->list == list && !strcmp(v->text, text))
			break;
	}
	return &t->index[i];
}

static bool add_text(struct tally *t, uint32_t list, const char *text, uint32_t *at)
{
	size_t size = strlen(text) + 1;
	struct tallied *v;

	if (t->n >= TALLY_MOST || t->bytes + size > TALLY_BYTES)
		return false;
	v = vec_push(t->v, t->n, t->cap);
	if (!v)
		return false;
	*v = (struct tallied){ list, 1, strdup(text) };
	if (!v->text) {
		t->n--;
		return false;
	}
	t->bytes += size;
	*at = (uint32_t)t->n;
	return true;
}

bool tally_add(struct tally *t, uint32_t list, const char *text)
{
	uint32_t *at;

	if (!t->index)
		t->index = calloc(INDEX, sizeof(*t->index));
	if (!t->index)
		return false;
	at = find(t, list, text);
	if (!*at)
		return add_text(t, list, text, at);
	t->v[*at - 1].n++;
	return true;
}

static int most_first(const void *x, const void *y)
{
	const struct tallied *a = *(const struct tallied *const *)x;
	const struct tallied *b = *(const struct tallied *const *)y;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return strcmp(a->text, b->text);
}

int tally_sort(const struct tally *t, uint32_t list, const struct tallied ***ret, size_t *n)
{
	*n = 0;
	*ret = calloc(t->n + 1, sizeof(**ret));
	if (!*ret)
		return fail(ENOMEM, "sort values");
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].list == list)
			(*ret)[(*n)++] = &t->v[i];
	qsort(*ret, *n, sizeof(**ret), most_first);
	return 0;
}

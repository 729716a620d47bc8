/* SPDX-License-Identifier: MIT */
/* lines: lines of several threads, in the order of the times that they tell. */
#include "trace/output/lines.h"

#include <errno.h>
#include <string.h>

struct line {
	uint64_t tsc;
	uint64_t at;		/* its place in the text, and so in the order of coming */
	uint64_t n;
};

struct lines {
	struct output *out;
	struct line *v;
	size_t n, cap;
	char *text;
	size_t used, room;
};

int lines_new(struct output *out, struct lines **ret)
{
	struct lines *l = calloc(1, sizeof(*l));

	if (!l)
		return fail(ENOMEM, "put lines in order");
	l->out = out;
	*ret = l;
	return 0;
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	free(l->v);
	free(l->text);
	free(l);
}

size_t lines_held(const struct lines *l)
{
	return l->used;
}

static bool make_room(struct lines *l, size_t n)
{
	size_t room = MAX(l->room * 2, l->used + n);
	char *text = l->used + n > l->room ? realloc(l->text, room) : l->text;

	if (!text)
		return false;
	l->room = l->used + n > l->room ? room : l->room;
	l->text = text;
	return true;
}

bool lines_add(struct lines *l, uint64_t tsc, const char *text, size_t n)
{
	struct line *line = make_room(l, n) ? vec_push(l->v, l->n, l->cap) : NULL;

	if (!line)
		return false;
	*line = (struct line){ tsc, l->used, n };
	memcpy(l->text + l->used, text, n);
	l->used += n;
	return true;
}

static int by_time(const void *x, const void *y)
{
	const struct line *a = x, *b = y;

	if (a->tsc != b->tsc)
		return a->tsc < b->tsc ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* Those that stay are moved to the front, in the order in which they came. */
static void lines_keep(struct lines *l, size_t from)
{
	size_t n = l->n - from, used = 0;
	char *text = malloc(l->used + 1);

	memmove(l->v, l->v + from, n * sizeof(*l->v));
	l->n = n;
	for (size_t i = 0; text && i < n; i++) {
		memcpy(text + used, l->text + l->v[i].at, l->v[i].n);
		l->v[i].at = used;
		used += l->v[i].n;
	}
	if (!text)
		return;
	free(l->text);
	l->text = text;
	l->room = l->used + 1;
	l->used = used;
}

void lines_settle(struct lines *l, uint64_t before)
{
	size_t i = 0;

	vec_sort(l->v, l->n, by_time);
	for (; i < l->n && l->v[i].tsc < before; i++)
		output_text(l->out, l->text + l->v[i].at, l->v[i].n);
	if (i)
		lines_keep(l, i);
}

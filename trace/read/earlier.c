/* SPDX-License-Identifier: MIT */
/* earlier: which calls were open as the record of their stack begins? */
#include "trace/read/earlier.h"

#include <errno.h>

enum { MOST = 1 << 20 };

struct earlier {
	struct earlier_call *v;
	size_t n, cap;
};

int earlier_new(struct earlier **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : fail(ENOMEM, "keep the open calls");
}

void earlier_free(struct earlier *e)
{
	if (e)
		free(e->v);
	free(e);
}

int earlier_note(struct earlier *e, const struct event *event, uint64_t begin,
		 uint64_t first)
{
	struct earlier_call *c = e->n < MOST ? vec_push(e->v, e->n, e->cap) : NULL;

	if (!c)
		return e->n < MOST ? fail(ENOMEM, "keep the open calls") : 0;
	*c = (struct earlier_call){
		.thread = event->thread, .stack = event->stack, .seq = e->n, .begin = begin,
		.first = first, .pid = event->pid, .tid = event->tid,
		.func = event->kind == EVENT_STACK_END ? UINT32_MAX : event->func,
	};
	return 0;
}

static int by_stack(const void *x, const void *y)
{
	const struct earlier_call *a = x, *b = y;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->stack != b->stack)
		return a->stack < b->stack ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

void earlier_sort(struct earlier *e)
{
	vec_sort(e->v, e->n, by_stack);
}

static bool same_stack(const struct earlier_call *a, const struct earlier_call *b)
{
	return a->thread == b->thread && a->stack == b->stack;
}

size_t earlier_next(const struct earlier *e, size_t *at, const struct earlier_call **ret)
{
	size_t n = 0;

	while (!n && *at < e->n) {
		*ret = &e->v[*at];
		while (*at + n < e->n && same_stack(*ret, *ret + n) && (*ret)[n].func != UINT32_MAX)
			n++;
		while (*at < e->n && same_stack(*ret, &e->v[*at]))
			++*at;
	}
	return n;
}

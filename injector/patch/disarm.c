/* SPDX-License-Identifier: MIT */
#include "injector/patch/disarm.h"

#include <errno.h>
#include <string.h>

#include "injector/patch/order.h"
#include "injector/patch/restore.h"
#include "injector/patch/writes.h"
#include "injector/ptrace/tracing.h"

/* Does a function that is `in` write what the pun keeps? */
static bool is_shared(const struct writes *w, const bool *in, const struct change *pun)
{
	raddr_t kept = pun->addr + pun->len;

	for (raddr_t a = kept; a < kept + pun->kept; a++) {
		const struct change *c = writes_at(w, a);

		if (c && in[c->func])
			return true;
	}
	return false;
}

int disarm_spread(const struct live *live, bool *in)
{
	struct writes w;
	int err = writes_make(live->changes, live->nchanges, &w);
	bool more = !err;

	while (more) {
		more = false;
		for (size_t i = 0; i < live->nchanges; i++) {
			const struct change *c = &live->changes[i];

			if (!c->kept || in[c->func] || !is_shared(&w, in, c))
				continue;
			in[c->func] = more = true;
		}
	}
	writes_clear(&w);
	return err;
}

int disarm_list(const struct live *live, const bool *in, struct change **ret, size_t *n)
{
	struct change *v = calloc(live->nchanges + 1, sizeof(*v));

	if (!v)
		return fail(ENOMEM, "list the probes to be disarmed");
	*n = 0;
	for (size_t i = 0; i < live->nchanges; i++)
		if (in[live->changes[i].func])
			v[(*n)++] = text_reversed(&live->changes[i]);
	vec_sort(v, *n, order_restored);
	*ret = v;
	return 0;
}

/* Keep what stands. */
static int disarm_look(const struct target *t, struct change *c, size_t *n)
{
	auto_free uint8_t *is = malloc(*n + 1);
	size_t kept = 0;

	if (!is)
		return fail(ENOMEM, "look at the text");
	int err = text_look(t, c, *n, is);
	for (size_t i = 0; i < *n && !err; i++) {
		if (is[i] == TEXT_OTHER)
			err = fail(EPERM, "another tool has written over its jump at %#lx",
				   (unsigned long)c[i].addr);
		else if (is[i] == TEXT_FROM)
			c[kept++] = c[i];
	}
	if (!err)
		*n = kept;
	return err;
}

static int disarm_operate(void *ctx)
{
	struct restore *r = ctx;
	int err = disarm_look(r->target, r->changes, &r->n);

	return err || !r->n ? err : restore(r);
}

int disarm(struct target *t, struct change *c, size_t *n, uint64_t max_pause)
{
	struct restore todo = { .target = t, .changes = c, .n = *n, .max_pause = max_pause };
	int err = tracing(disarm_operate, &todo);

	*n = todo.n;
	return err;
}

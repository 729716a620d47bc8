/* SPDX-License-Identifier: MIT */
#include "injector/patch/foreign.h"

#include <errno.h>
#include <string.h>

int foreign_look(const struct target *t, struct text_diffs *ret)
{
	struct text_diffs probes;
	int err = verify_text(t, NULL, ret);

	if (err || !ret->n)
		return err;
	err = verify_lasting(t, NULL, &probes);
	err = err ? err : verify_keep_probes(t, &probes);
	if (!err && probes.n)
		err = (fail(0, "a probe of an earlier inject stands at %#lx of %d (%s), and its "
			    "journal does not tell", (unsigned long)probes.v[0].addr, t->pid,
			    t->comm), -EBUSY);
	verify_clear(&probes);
	return err;
}

static bool is_foreign(const struct slot *s)
{
	return s->kind == SLOT_FOREIGN && s->state == SLOT_FREE;
}

/* Any visit's, or a new one at the end; `at` is where to look first. */
static struct slot *next_slot(struct session_map *m, uint32_t *at)
{
	uint32_t n = MIN(m->s->nslots, m->shape.max_slots);

	for (; *at < n; ++*at)
		if (is_foreign(&m->slots[*at]))
			return &m->slots[(*at)++];
	if (n == m->shape.max_slots)
		return NULL;
	*at = n + 1;
	return &m->slots[n];
}

void foreign_write(struct session_map *m, const struct text_diffs *diffs)
{
	uint32_t at = 0;
	struct slot *s;

	for (size_t i = 0; i < m->s->nslots && i < m->shape.max_slots; i++)
		if (is_foreign(&m->slots[i]))
			m->slots[i].len = 0;
	for (size_t i = 0; i < diffs->n && i < FOREIGN_MOST; i++) {
		const struct text_diff *d = &diffs->v[i];

		s = next_slot(m, &at);
		if (!s)
			return;
		*s = (struct slot){ .addr = d->addr, .kind = SLOT_FOREIGN, .len = d->len };
		memcpy(s->old, d->is, sizeof(s->old));
		if (s == &m->slots[m->s->nslots])
			__atomic_store_n(&m->s->nslots, m->s->nslots + 1, __ATOMIC_RELEASE);
	}
}

static int by_addr(const void *a, const void *b)
{
	const struct text_diff *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

int foreign_read(const struct target *t, const struct old_session *old, struct text_diffs *ret)
{
	*ret = (struct text_diffs){ 0 };
	for (uint32_t i = 0; old->found && i < old->s.nslots && ret->n < FOREIGN_MOST; i++) {
		const struct slot *s = &old->slots[i];

		if (!is_foreign(s) || !s->len || s->len > sizeof(s->old))
			continue;
		struct text_diff *d = vec_push(ret->v, ret->n, ret->cap);
		if (!d)
			return fail(ENOMEM, "read the journal");
		d->addr = s->addr;
		d->len = s->len;
		memcpy(d->is, s->old, sizeof(d->is));
	}
	if (!ret->n)
		return 0;
	vec_sort(ret->v, ret->n, by_addr);
	return verify_drop_probes(t, ret);
}

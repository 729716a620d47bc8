/* SPDX-License-Identifier: MIT */
#include "injector/patch/semaphores.h"

#include <errno.h>
#include <string.h>

#include "injector/patch/slots.h"
#include "injector/patch/verify.h"

/* Is it data of this file, and nothing that runs? */
static bool is_data(const struct module *m, raddr_t at)
{
	if (!range_has(m->span, at) || !range_has(m->span, at + sizeof(uint16_t) - 1))
		return false;
	for (size_t i = 0; i < m->nmaps; i++)
		if (range_overlaps(m->maps[i], (struct range){ at, at + sizeof(uint16_t) }))
			return false;
	return true;
}

static bool read_counter(const struct target *t, raddr_t at, uint16_t *ret)
{
	if (target_read(t, at, ret, sizeof(*ret)) == 0)
		return true;
	fail_clear();
	return false;
}

static bool write_counter(const struct target *t, raddr_t at, uint16_t value)
{
	if (target_write(t, at, &value, sizeof(value)) == 0)
		return true;
	fail_clear();
	return false;
}

/* ---- raise ---------------------------------------------------------------- */

static bool is_listed(const struct live *live, raddr_t at)
{
	for (size_t i = 0; i < live->nsemaphores; i++)
		if (live->semaphores[i].addr == at)
			return true;
	return false;
}

/* The one of an earlier visit, or a new one. */
static int64_t slot_for(struct session_map *map, raddr_t at)
{
	uint32_t n = MIN(map->s->nslots, map->shape.max_slots);

	for (uint32_t i = 0; i < n; i++)
		if (map->slots[i].kind == SLOT_SEMAPHORE && map->slots[i].addr == at)
			return i;
	if (n >= map->shape.max_slots)
		return -1;
	map->slots[n] = (struct slot){ .addr = at, .kind = SLOT_SEMAPHORE,
				       .len = sizeof(uint16_t) };
	__atomic_store_n(&map->s->nslots, n + 1, __ATOMIC_RELEASE);
	return n;
}

static int add(struct session_map *map, struct live *live, raddr_t at)
{
	struct live_semaphore *new = vec_push(live->semaphores, live->nsemaphores,
					      live->semaphores_cap);
	int64_t slot = new ? slot_for(map, at) : -1;

	if (slot < 0)
		return new ? fail(ENOSPC, "the journal is full") : -ENOMEM;
	*new = (struct live_semaphore){ at, (uint32_t)slot };
	return 0;
}

int semaphores_list(struct infection *inf, const struct selection *sel, struct live *live)
{
	int err = 0;

	for (size_t i = 0; i < sel->n; i++)
		for (size_t j = 0; j < sel->v[i].nprobes && !err; j++) {
			const struct placed_probe *p = &sel->v[i].probes[j];
			raddr_t at = p->semaphore + sel->v[i].module->bias;

			if (p->semaphore && !p->refusal && !is_listed(live, at) &&
			    is_data(sel->v[i].module, at))
				err = add(&inf->map, live, at);
		}
	return err;
}

static bool is_wanted(const struct live *live, raddr_t at)
{
	for (size_t i = 0; i < live->nsites; i++) {
		const struct live_site *s = &live->sites[i];

		if (s->probe->semaphore && s->probe->semaphore + s->module->bias == at)
			return true;
	}
	return false;
}

static void set_state(struct slot *slot, enum slot_state state)
{
	__atomic_store_n(&slot->state, (uint8_t)state, __ATOMIC_SEQ_CST);
}

/* Where only the target maps the journal, it is told, too. */
static bool tell_slot(const struct target *t, const struct infection *inf, uint32_t i)
{
	if (inf->map.fd >= 0)
		return true;
	if (target_write(t, inf->base + SLOTS_OFF + i * sizeof(struct slot), &inf->map.slots[i],
			 sizeof(struct slot)) == 0)
		return true;
	fail_clear();
	return false;
}

static void forget_in(const struct target *t, struct infection *inf, const struct module *m)
{
	uint32_t n = MIN(inf->map.s->nslots, inf->map.shape.max_slots);

	for (uint32_t i = 0; i < n; i++) {
		struct slot *slot = &inf->map.slots[i];

		if (slot->kind != SLOT_SEMAPHORE || !is_data(m, slot->addr) ||
		    (slot->state != SLOT_PLANNED && slot->state != SLOT_ACTIVE))
			continue;
		set_state(slot, SLOT_REMOVED);
		tell_slot(t, inf, i);
	}
}

void semaphores_forget(const struct target *t, struct infection *inf, const struct modules *loaded)
{
	for (size_t i = 0; i < loaded->n; i++)
		forget_in(t, inf, &loaded->v[i]);
}

void semaphores_raise(const struct target *t, struct infection *inf, const struct live *live)
{
	for (size_t i = 0; i < live->nsemaphores; i++) {
		raddr_t at = live->semaphores[i].addr;
		struct slot *slot = &inf->map.slots[live->semaphores[i].slot];
		uint16_t value;

		/* What was added before has raised it. */
		if (slot->state == SLOT_ACTIVE && slot->func == inf->map.s->generation)
			continue;
		if (!is_wanted(live, at) || !read_counter(t, at, &value) || value == UINT16_MAX)
			continue;
		memcpy(slot->old, &value, sizeof(value));		/* 1 */
		slot->func = inf->map.s->generation;
		set_state(slot, SLOT_PLANNED);				/* 2 */
		set_state(slot, tell_slot(t, inf, live->semaphores[i].slot) &&
			  write_counter(t, at, value + 1) ?		/* 3, 4 */
			  SLOT_ACTIVE : SLOT_REMOVED);
		tell_slot(t, inf, live->semaphores[i].slot);
	}
}

/* ---- lower ---------------------------------------------------------------- */

/* Where a jump was written the page is the target's own from then on. A library that was loaded
 * since has none such, and what its counters say is not of our doing. */
static bool was_written(const struct target *t, raddr_t place)
{
	return verify_is_copy(t, place) || verify_is_copy(t, place - CHANGE_MAX);
}

enum raised_by {
	RAISED_OTHERS,
	RAISED_UNKNOWN,
	RAISED_OURS,		/* one of its places was written to, by us */
};

/*
 * Another tracer's breakpoint makes the page the target's own, too. Our jumps are gone by now, but
 * for those that it has written over. So where the file's bytes do not stand, the counter may be
 * that tracer's; and if bytes behind a breakpoint are not the file's either, a jump of ours may be
 * there still.
 */
static enum raised_by raised_by(const struct target *t, const struct module *m, raddr_t place)
{
	enum { BEHIND = 4 };
	const size_t trap = arch_host()->trap_size;
	uint8_t now[CHANGE_MAX];
	size_t left, n = trap + BEHIND;
	const uint8_t *file = symbols_text(m->symbols, place - m->bias, &left);

	if (!was_written(t, place))
		return RAISED_OTHERS;
	if (!file || left < n || target_read(t, place, now, n) < 0) {
		fail_clear();
		return RAISED_OURS;
	}
	if (!memcmp(now, file, trap))
		return RAISED_OURS;
	return memcmp(now + trap, file + trap, BEHIND) ? RAISED_UNKNOWN : RAISED_OTHERS;
}

static bool is_semaphore_of(const struct target *t, struct module *m, raddr_t at,
			    enum raised_by *by)
{
	const struct usdt_sites *sites;
	bool found = false;

	if (!is_data(m, at))
		return false;
	/* The symbols say where it is loaded. */
	if (module_symbols(m) < 0 || module_usdt(m, &sites) < 0)
		return fail_clear(), false;
	for (size_t k = 0; k < sites->n; k++) {
		if (!sites->v[k].semaphore || sites->v[k].semaphore + m->bias != at)
			continue;
		found = true;
		if (by)
			*by = MAX(*by, raised_by(t, m, sites->v[k].pc + m->bias));
	}
	return found;
}

/* The journal lies in memory that the target can write: only what is a counter by the file is
 * changed. `by` is that place's which tells most; NULL: that is not asked. (What was probed may be
 * a copy by now: another image came, and lies below it.) */
static bool is_semaphore(const struct target *t, const struct modules *mods, raddr_t at,
			 enum raised_by *by)
{
	bool found = false;

	for (size_t i = 0; i < mods->n; i++)
		found |= is_semaphore_of(t, &mods->v[i], at, by);
	for (size_t i = 0; i < mods->ncopies; i++)
		found |= is_semaphore_of(t, &mods->copies[i], at, by);
	return found;
}

/* Is it raised, as far as is known? */
static bool is_raised(const struct slot *s, uint16_t value)
{
	uint16_t before;

	memcpy(&before, s->old, sizeof(before));
	return value && (s->state == SLOT_ACTIVE ||
			 (s->state == SLOT_PLANNED && value == (uint16_t)(before + 1)));
}

static bool note(const struct target *t, const struct old_session *old, size_t i, size_t offset,
		 size_t size)
{
	const struct slot *s = &old->slots[i];

	if (target_write(t, old->base + SLOTS_OFF + i * sizeof(*s) + offset,
			 (const char *)s + offset, size) == 0)
		return true;
	fail_clear();
	return false;
}

#define NOTE(t, old, i, field) \
	note(t, old, i, offsetof(struct slot, field), sizeof((old)->slots[i].field))

static void lower_own(const struct target *t, struct old_session *old, size_t i, bool ours)
{
	struct slot *s = &old->slots[i];
	uint16_t value;
	bool noted = true;

	if (ours && read_counter(t, s->addr, &value) && is_raised(s, value)) {
		value--;
		memcpy(s->old, &value, sizeof(value));
		noted = NOTE(t, old, i, old);
		s->state = SLOT_PLANNED;
		noted = noted && NOTE(t, old, i, state) && write_counter(t, s->addr, value);
	}
	if (noted) {
		s->state = SLOT_REMOVED;
		NOTE(t, old, i, state);
	}
}

static void lower_child(const struct target *t, const struct slot *s)
{
	uint16_t value;

	if (read_counter(t, s->addr, &value) && value)
		write_counter(t, s->addr, value - 1);
}

void semaphores_prepare(const struct old_session *old, const struct modules *mods)
{
	for (size_t i = 0; old->found && i < old->s.nslots; i++)
		if (old->slots[i].kind == SLOT_SEMAPHORE)
			is_semaphore(NULL, mods, old->slots[i].addr, NULL);
}

void semaphores_lower(const struct target *t, struct old_session *old, const struct modules *mods,
		      bool own)
{
	for (size_t i = 0; old->found && i < old->s.nslots; i++) {
		struct slot *s = &old->slots[i];
		bool was_raised = own ? s->state == SLOT_PLANNED || s->state == SLOT_ACTIVE :
			s->func == old->s.generation && s->state != SLOT_FREE;
		enum raised_by by = RAISED_OTHERS;

		/* What is not known the next stop may find out. */
		if (s->kind != SLOT_SEMAPHORE || !was_raised ||
		    !is_semaphore(t, mods, s->addr, &by) || by == RAISED_UNKNOWN)
			continue;
		if (own)
			lower_own(t, old, i, by == RAISED_OURS);
		else if (by == RAISED_OURS)
			lower_child(t, s);
	}
}

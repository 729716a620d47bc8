/* SPDX-License-Identifier: MIT */
#include "injector/patch/probes.h"

#include <errno.h>
#include <string.h>

#include "injector/modules/valued.h"
#include "injector/patch/order.h"
#include "injector/patch/roles.h"
#include "injector/patch/semaphores.h"
#include "injector/patch/shared_ids.h"
#include "injector/patch/slots.h"
#include "injector/patch/traps.h"
#include "injector/session/callers.h"
#include "injector/session/ours.h"
#include "payload/stub.h"

static bool probed(const struct placed_probe *p)
{
	return p->refusal == REFUSED_NONE;
}

static uint8_t covered(const struct site *s)
{
	return MAX((uint8_t)(s->window + s->dead), s->jump.len);
}

/* And what a pun keeps, which has to be what the file says. */
static uint8_t looked_at(const struct site *s)
{
	return MAX(covered(s), (uint8_t)(s->jump.len + s->kept));
}

/* Is that byte where the loader has mapped it? What a program has put in its place,
 * no file vouches for at the removal. */
static bool is_mapped(const struct module *m, raddr_t addr)
{
	for (size_t i = 0; i < m->nmaps; i++)
		if (range_has(m->maps[i], addr))
			return true;
	return false;
}

static enum refusal probes_compare(const struct target *t, const struct module *m, raddr_t pc,
				   size_t len)
{
	uint8_t now[256];
	size_t there;
	const uint8_t *file = symbols_text(m->symbols, pc, &there);

	if (!file || there < len || len > sizeof(now))
		return REFUSED_TEXT_DIFFERS;
	if (!is_mapped(m, pc + m->bias) || !is_mapped(m, pc + m->bias + len - 1))
		return REFUSED_MOVED_TEXT;
	if (target_read(t, pc + m->bias, now, len) < 0) {
		fail_clear();
		return REFUSED_TEXT_DIFFERS;
	}
	if (memcmp(now, file, len) == 0)
		return REFUSED_NONE;
	return arch_host()->is_foreign(now, len) ? REFUSED_FOREIGN_PATCH : REFUSED_TEXT_DIFFERS;
}

static enum refusal check_probe(const struct target *t, const struct module *m,
				const struct placed_probe *p)
{
	enum refusal why = m->shared ? REFUSED_SHARED_TEXT : REFUSED_NONE;

	for (size_t i = 0; i < p->nsites && !why; i++) {
		const struct site *s = &p->sites[i].site;

		why = probes_compare(t, m, s->pc, looked_at(s));
		if (!why && s->hole.len)
			why = probes_compare(t, m, s->hole.pc, s->hole.len);
	}
	return why;
}

int probes_check(const struct target *t, struct selection *sel)
{
	for (size_t i = 0; i < sel->n; i++) {
		struct selected *s = &sel->v[i];

		for (size_t j = 0; j < s->nprobes; j++) {
			struct placed_probe *p = &s->probes[j];

			if (probed(p))
				p->refusal = check_probe(t, s->module, p);
		}
	}
	return 0;
}

size_t probes_ids(const struct selection *sel, size_t next)
{
	size_t n = 0;

	for (size_t i = 0; i < sel->n; i++)
		for (size_t j = 0; j < sel->v[i].nprobes; j++) {
			const struct placed_probe *p = &sel->v[i].probes[j];

			if (!probed(p))
				continue;
			size_t ids = p->id ? p->id + 1u : ++next;
			n = MAX(n, ids);
		}
	return n;
}

struct placing {
	const struct target *target;
	struct infection *inf;
	struct live *live;
	struct slot_index index;	/* of the slots of earlier visits */
	struct shared_ids ids;
	bool trapping;		/* a breakpoint was announced */
};

/* Function ids are for life, for they stand in stubs that stay. Id 0 means
 * that none was given yet. */
static int give_id(struct placing *p, struct placed_probe *probe, const char *name)
{
	struct session *s = p->inf->map.s;
	uint32_t id = MAX(s->nfuncs, 1u);

	if (!probe->id && probe->shared)
		probe->id = shared_id(&p->ids, probe, name);
	if (probe->id)
		return probe->shared ? share_id(&p->ids, probe, name) : 0;
	if (id >= 1u << REC_FUNC_BITS)
		return fail(ENOSPC, "no function id is left");
	probe->id = id;
	s->nfuncs = id + 1;
	return probe->shared ? share_id(&p->ids, probe, name) : 0;
}

/* Is that a jump to a stub? */
static bool leads_to_stub(const struct session *s, raddr_t at, const uint8_t *code, size_t size)
{
	struct insn in;

	return !arch_host()->measure(code, size, at, &in) && in.kind == INSN_JUMP &&
		ours_has(s, in.dest);
}

/* An island of this site that leads to its stub of another visit: in the stop it is led
 * to the one of now. */
static int move_island(struct placing *p, raddr_t at, const uint8_t *from, const uint8_t *to,
		       size_t size)
{
	struct change *c;

	if (!leads_to_stub(p->inf->map.s, at, from, size))
		return -ERANGE;
	c = vec_push(p->live->moves, p->live->nmoves, p->live->moves_cap);
	if (!c)
		return fail(ENOMEM, "list the islands");
	*c = (struct change){ .addr = at, .len = (uint8_t)size };
	memcpy(c->from, from, size);
	memcpy(c->to, to, size);
	return 0;
}

/* Nothing else may stand on an island but what has led away from this very site. */
static int place_island(struct placing *p, const struct module *m,
			const struct placed_site *placed)
{
	static const uint8_t none[ARCH_JUMP_MAX];
	uint8_t code[ARCH_JUMP_MAX], now[ARCH_JUMP_MAX];
	raddr_t at = island_of(placed, m);
	int size = at ? island_code(placed, code) : 0;

	if (size <= 0)
		return size;
	int err = target_read(p->target, at, now, (size_t)size);

	if (err || memcmp(now, code, (size_t)size) == 0)
		return err;
	return memcmp(now, none, (size_t)size) ? move_island(p, at, now, code, (size_t)size) :
		target_write(p->target, at, code, (size_t)size);
}

/* Where in the arena's next note may be, for a stub of this size with it. */
static raddr_t next_note(const struct arena *a, uint64_t size)
{
	raddr_t at = ALIGN_UP(a->base + a->used, (raddr_t)STUB_ALIGN);

	return at / PAGE == (at + size - 1) / PAGE ? at : ALIGN_UP(at, (raddr_t)PAGE);
}

/* A site whose `stub` is where its stub shall stand, behind its note. */
static int write_stub(struct placing *p, const struct module *m, const struct placed_probe *probe,
		      struct placed_site *s, const struct arena *a)
{
	struct routines r = arena_routines(p->inf->map.s, a, m, probe);
	_Alignas(struct stub_note) uint8_t code[STUB_MAX];
	size_t there, size = plan_note_size(probe, s);
	int err = plan_place_noted(arch_host(), probe, s,
				   symbols_text(m->symbols, s->site.pc, &there),
				   &r, code, sizeof(code));
	if (err)
		return err;
	if (s->stub + m->bias + s->stub_size > a->base + a->size)
		return fail(ENOSPC, "the stubs of %s need more room than was planned", m->base);
	return target_write(p->target, s->stub - size + m->bias, code, size + s->stub_size);
}

static int announce_trap(struct placing *p, const struct module *m, const struct placed_site *s)
{
	const struct session *ses = p->inf->map.s;
	int err = p->trapping ? 0 : traps_forget(p->target, ses);

	p->trapping = true;
	return err ? err : traps_add(p->target, ses, s->site.pc + m->bias, s->stub + m->bias);
}

/* A new stub at the end of the arena, unless the site has its old one. */
static int place_site(struct placing *p, const struct module *m, const struct placed_probe *probe,
		      struct placed_site *s, struct arena *a)
{
	int err;

	if (s->stub) {
		err = plan_patches(arch_host(), s);
	} else if (!a) {
		err = -ERANGE;
	} else {
		raddr_t note = next_note(a, needs_of_stub(probe, s, s->site.stub_most));

		s->stub = note + plan_note_size(probe, s) - m->bias;
		err = write_stub(p, m, probe, s, a);
		if (!err)
			a->used = note + needs_of_stub(probe, s, s->stub_size) - a->base;
	}
	if (!err && s->site.tactic == TACTIC_TRAP)
		err = announce_trap(p, m, s);
	return err ? err : place_island(p, m, s);
}

/* If stubs have jumps into each other, all are old ones, or all are new. */
static int place_sites(struct placing *p, const struct module *m, struct placed_probe *probe,
		       struct arena *a)
{
	bool again = a && probe->planned->linked && !probe->sites[0].stub;
	int err = 0;

	for (size_t i = 0; i < probe->nsites && !err; i++)
		err = place_site(p, m, probe, &probe->sites[i], a);
	for (size_t i = 0; again && i < probe->nsites && !err; i++)
		err = write_stub(p, m, probe, &probe->sites[i], a);
	return err;
}

static bool same_jump(const struct slot *a, const struct slot *b)
{
	return a->stub == b->stub && a->island == b->island && a->len == b->len &&
		!memcmp(a->old, b->old, sizeof(a->old)) &&
		!memcmp(a->new_, b->new_, sizeof(a->new_));
}

static bool is_remembered(const struct placing *p, const struct slot *old)
{
	const struct slot_index *x = &p->index;

	for (uint32_t i = slot_index_first(x, old->addr);
	     i < x->n && x->slots[x->by_addr[i]].addr == old->addr; i++) {
		const struct slot *s = &x->slots[x->by_addr[i]];

		if (s != old && (s->kind == SLOT_STUB || s->kind == SLOT_HOLE) && same_jump(s, old))
			return true;
	}
	return false;
}

/* The place gets another jump than it had. A forked child may have that one still, and a visit
 * like that one will want its stub and island again: memory that no slot tells of would be
 * lost. */
static void probes_remember(struct placing *p, const struct slot *old)
{
	struct session_map *map = &p->inf->map;
	uint32_t n = map->s->nslots;

	if (!old->stub || is_remembered(p, old) || n >= map->shape.max_slots)
		return;
	map->slots[n] = *old;
	map->slots[n].kind = old->kind == SLOT_HOLE ? SLOT_HOLE : SLOT_STUB;
	map->slots[n].state = SLOT_REMOVED;
	__atomic_store_n(&map->s->nslots, n + 1, __ATOMIC_RELEASE);
}

/* Journal first: the slot is complete before anything refers to it. */
static int journal(struct placing *p, const struct module *m, const struct placed_probe *probe,
		   const struct placed_site *placed, const struct patch *patch)
{
	struct session_map *map = &p->inf->map;
	const struct site *site = &placed->site;
	struct slot all = slot_of(m, probe, placed, patch);
	int64_t carried = slot_index_find(&p->index, all.addr, all.kind);
	struct slot *slot = carried < 0 ? NULL : &map->slots[carried];
	bool jump = patch == &site->jump;
	struct change *c = vec_push(p->live->changes, p->live->nchanges, p->live->changes_cap);

	if (!c)
		return fail(ENOMEM, "write the journal");
	if (slot && !same_jump(slot, &all))
		probes_remember(p, slot);
	if (!slot) {
		if (map->s->nslots >= map->shape.max_slots)
			return fail(ENOSPC, "the journal is full");
		slot = &map->slots[map->s->nslots];
	}
	/* If we die in between, a later inject that finds it planned finds the bytes, too. */
	__atomic_store_n(&slot->state, SLOT_FREE, __ATOMIC_SEQ_CST);
	*slot = all;
	__atomic_store_n(&slot->state, SLOT_PLANNED, __ATOMIC_SEQ_CST);
	*c = slot_change(&all, (uint32_t)(slot - map->slots));
	c->kept = jump && site->tactic == TACTIC_PUN ? site->kept : 0;
	if (c->slot == map->s->nslots)
		__atomic_store_n(&map->s->nslots, c->slot + 1, __ATOMIC_RELEASE);
	return 0;
}

static int add_site(struct placing *p, const struct module *m, struct placed_probe *probe,
		    const struct placed_site *placed)
{
	const struct site *site = &placed->site;
	struct live_site *ls = vec_push(p->live->sites, p->live->nsites, p->live->sites_cap);

	if (!ls)
		return fail(ENOMEM, "list the sites");
	*ls = (struct live_site){ site->pc + m->bias, covered(site), placed, probe, m };
	int err = site->hole.len ? journal(p, m, probe, placed, &site->hole) : 0;
	return err ? err : journal(p, m, probe, placed, &site->jump);
}

static enum callers_of callers_at(const struct placed_probe *p)
{
	if (p->planned->routines == ROUTINES_MOVED)
		return CALLERS_MOVED;
	return p->nsites && p->sites[0].site.place ? CALLERS_PLACE : CALLERS_ENTRY;
}

static int place_probe(struct placing *p, const struct module *m, struct placed_probe *probe,
		       const char *name, struct arena *a)
{
	const struct session *s = p->inf->map.s;

	if (probe->planned->routines == ROUTINES_TIGHT && !(s->spills && s->spills_offset)) {
		probe->refusal = REFUSED_LITTLE_STACK;
		return 0;
	}
	int err = give_id(p, probe, name);

	err = err ? err : place_sites(p, m, probe, a);
	if (err == -ERANGE) {
		fail_clear();
		probe->refusal = REFUSED_OUT_OF_REACH;
		return 0;
	}
	for (size_t i = 0; i < probe->nsites && !err; i++)
		err = add_site(p, m, probe, &probe->sites[i]);
	/* Without room for its plan it is recorded without values; not at all, if that has a
	 * condition. */
	bool planned = err || !valued_is_read(probe) ||
		session_add_plan(&p->inf->map, probe->id, probe->valued->plan,
				 probe->valued->size) || !probe->valued->plan->condition;

	if (!err && probe->callers)
		callers_choose(&p->inf->map, probe->id, callers_at(probe));
	if (!err && planned)
		session_open_gate(&p->inf->map, probe->id, probe->guards);
	if (!err)
		live_count(p->live, probe, 1);
	return err;
}

static int place_module(struct placing *p, struct selected *s, const struct arena_need *need)
{
	struct session *ses = p->inf->map.s;
	struct arena *a = need->arena < 0 || need->arena >= SESSION_ARENAS ? NULL :
		&ses->arenas[need->arena];

	for (size_t i = 0; i < s->nprobes; i++) {
		struct placed_probe *probe = &s->probes[i];
		int err = 0;

		if (probe->with && !probed(probe - 1))
			probe->refusal = probe[-1].refusal;
		if (!probed(probe))
			continue;
		err = place_probe(p, s->module, probe, s->names[i], a);
		if (err)
			return err;
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct live_site *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Names for the reader, by id; ids of earlier visits keep a place. */
static int name_funcs(struct placing *p, const struct selection *sel)
{
	struct live *live = p->live;

	live->nfuncs = MIN(p->inf->map.s->nfuncs, 1u << REC_FUNC_BITS);
	live->funcs = calloc(live->nfuncs + 1, sizeof(*live->funcs));
	if (!live->funcs)
		return fail(ENOMEM, "name the functions");
	for (size_t i = 0; i < live->nfuncs; i++)
		live->funcs[i] = (struct reader_func){ .name = "?", .module = "?" };
	for (size_t i = 0; i < sel->n; i++) {
		const struct selected *s = &sel->v[i];

		for (size_t j = 0; j < s->nprobes; j++) {
			const struct placed_probe *probe = &s->probes[j];

			if (probed(probe) && !probe->silent && !probe->hidden &&
			    probe->id < live->nfuncs)
				live->funcs[probe->id] = (struct reader_func){
					.name = s->names[j], .module = s->module->base,
					.entry_only = probe->entry_only != 0,
					.values = probe->valued ? probe->valued->packed.v : NULL,
					.nvalues = probe->valued ? probe->valued->packed.n : 0,
					.asked = probe->valued ? probe->valued->asked : NULL };
		}
	}
	return roles_set(live, sel);
}

int probes_place(const struct target *t, struct infection *inf, struct selection *sel,
		 const struct arena_need *needs, struct live *ret)
{
	struct placing p = { .target = t, .inf = inf, .live = ret };

	*ret = (struct live){ 0 };
	uint32_t carried = MIN(inf->map.s->nslots, inf->map.shape.max_slots);
	int err = slot_index_make(inf->map.slots, carried, &p.index);
	for (size_t i = 0; i < sel->n && !err; i++)
		err = place_module(&p, &sel->v[i], &needs[i]);
	slot_index_clear(&p.index);
	free(p.ids.v);
	err = err ? err : name_funcs(&p, sel);
	err = err ? err : semaphores_list(inf, sel, ret);
	if (err) {
		live_clear(ret);
		return err;
	}
	ret->asked = ret->nprobed > 0;
	vec_sort(ret->sites, ret->nsites, by_start);
	vec_sort(ret->changes, ret->nchanges, order_written);
	vec_sort(ret->moves, ret->nmoves, order_written);
	err = puns_check(ret, inf);
	if (err)
		live_clear(ret);
	return err;
}

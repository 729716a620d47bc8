/* SPDX-License-Identifier: MIT */
#include "injector/verbs/grow.h"

#include <errno.h>
#include <string.h>

#include "injector/log/clock.h"
#include "injector/log/say.h"
#include "injector/patch/semaphores.h"
#include "injector/patch/verify.h"
#include "injector/proc/procfs.h"
#include "injector/ptrace/tracing.h"
#include "injector/show/refused.h"

enum {
	MOST_MODULES = 4096,	/* the list is the target's: it may be endless */
	MOST_GROWTHS = 256,
	SHARE = 10,		/* at most a tenth of the time for looks in vain */
};

/* A file at a place: what was looked at already. */
struct grown_module {
	dev_t dev;
	ino_t ino;
	struct range span;
	bool mapped;		/* in the look of now */
	struct change first, last;	/* of its jumps; len 0: it has none */
};

/* What came in one look. Kept to the end: names and plans are the symbols'. */
struct growth {
	struct growth *before;
	struct grow *grow;
	struct modules mods;
	struct selection sel;
	struct islands islands;
	struct arena_need *needs;
	uint32_t slots;
	struct live live;
};

static struct grown_module *find_known(struct grow *g, const struct module *m)
{
	for (size_t i = 0; i < g->known_n; i++)
		if (g->known[i].ino == m->ino && g->known[i].dev == m->dev &&
		    g->known[i].span.start == m->span.start)
			return &g->known[i];
	return NULL;
}

static int add_known(struct grow *g, const struct module *m)
{
	struct grown_module *k = vec_push(g->known, g->known_n, g->known_cap);

	if (!k)
		return fail(ENOMEM, "list the libraries of %d", g->target->pid);
	*k = (struct grown_module){ m->dev, m->ino, m->span, .mapped = true };
	return 0;
}

static void take_samples(struct grow *g, const struct live *live)
{
	for (size_t i = 0; i < g->known_n; i++) {
		struct grown_module *k = &g->known[i];

		for (size_t j = 0; j < live->nchanges; j++) {
			const struct change *c = &live->changes[j];

			if (!range_has(k->span, c->addr))
				continue;
			if (!k->first.len)
				k->first = *c;
			k->last = *c;
		}
	}
}

static bool grow_stands(const struct grow *g, const struct change *c)
{
	uint8_t is = TEXT_TO;

	if (text_look(g->target, c, 1, &is) < 0)
		fail_clear();
	return is == TEXT_TO;
}

/*
 * Unloaded since the last look, and itself or another one loaded at the same place:
 * the list says nothing of it, but its jumps do not stand any more, and its code
 * was not written to. (It was where a stop was forced, or a debugger is.)
 */
static bool forget_reloaded(struct grow *g)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->known_n; i++) {
		const struct grown_module *k = &g->known[i];

		if (!k->first.len || grow_stands(g, &k->first) || grow_stands(g, &k->last) ||
		    verify_is_copy(g->target, k->first.addr))
			g->known[kept++] = *k;
	}
	bool any = kept < g->known_n;
	g->known_n = kept;
	return any;
}

void grow_find_list(struct modules *mods, struct rdebug *ret)
{
	for (size_t i = 0; i < mods->n && !ret->at; i++)
		rdebug_find(&mods->v[i], ret);
}

int grow_begin(struct grow *g, struct modules *mods)
{
	int err = 0;

	for (size_t i = 0; i < mods->n && !err; i++)
		err = add_known(g, &mods->v[i]);
	take_samples(g, g->live);
	return err;
}

static uint64_t mix(uint64_t hash, uint64_t with)
{
	const uint64_t prime = 0x100000001b3ull;

	return (hash ^ with ^ with >> 32) * prime;
}

/* What the list looks like; false while it is being changed, or cannot be read. */
static bool look_at_list(const struct grow *g, uint64_t *ret)
{
	struct r_debug list;
	struct link_map map;
	uint64_t hash = 1;
	int n = 0;

	if (rdebug_read(g->target, &g->list, &list) < 0 || list.r_state != RT_CONSISTENT)
		return false;
	for (raddr_t at = (raddr_t)list.r_map; at && n < MOST_MODULES; n++) {
		if (target_read(g->target, at, &map, sizeof(map)) < 0)
			return false;
		hash = mix(mix(mix(hash, at), map.l_addr), (raddr_t)map.l_ld);
		at = (raddr_t)map.l_next;
	}
	*ret = hash;
	return true;
}

static bool is_new(void *ctx, const struct module *m)
{
	struct grown_module *k = find_known(ctx, m);

	if (k)
		k->mapped = true;
	return !k && !m->is_payload;
}

/* What is unmapped is forgotten, for it may come again. */
static void forget_unmapped(struct grow *g)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->known_n; i++)
		if (g->known[i].mapped)
			g->known[kept++] = g->known[i];
	g->known_n = kept;
}

/* Stacks lead through what was loaded, too. */
static int grow_callers(struct grow *g, const struct modules *mods)
{
	int err = g->callers ? callers_read(g->callers, mods) : 0;

	if (!err && g->callers && callers_write(g->callers, &g->infection->map))
		say_hint("stacks end in libraries that were loaded later: there is no room for "
			 "their tables");
	return err;
}

/* 1 to 3 of the attach. */
static int plan_new(struct growth *n)
{
	struct grow *g = n->grow;

	for (size_t i = 0; i < g->known_n; i++)
		g->known[i].mapped = false;
	int err = modules_open_process(g->target->pid, &n->mods);
	if (err)
		return err;
	err = modules_outwards(&n->mods);
	err = err ? err : grow_callers(g, &n->mods);
	if (err)
		return err;
	modules_keep(&n->mods, is_new, g);
	forget_unmapped(g);
	semaphores_forget(g->target, g->infection, &n->mods);
	for (size_t i = 0; i < n->mods.n && !err; i++)
		err = add_known(g, &n->mods.v[i]);
	err = err ? err : select_functions(&n->mods, &g->select, &n->sel);
	err = err ? err : valued_choose(&g->values, &n->sel);
	if (!err && g->callers)
		valued_choose_callers(&n->sel);
	say_progress_end();
	return err ? err : probes_check(g->target, &n->sel);
}

/* A library that was here before has its stubs still. */
static int grow_adopt(struct growth *n)
{
	struct old_session now;
	int err = session_find(n->grow->target, &now);

	if (!err && now.found)
		err = probes_adopt(n->grow->target, &now, &n->sel, NULL);
	session_forget(&now);
	return err;
}

static int make_room(void *ctx)
{
	struct growth *n = ctx;
	struct infect_options o = {
		.reach = arch_host()->reach, .needs = n->needs, .nneeds = n->sel.n,
		.islands = &n->islands,
	};

	return infect_more(n->grow->target, &n->mods, &o, n->grow->infection);
}

static int put_in(void *ctx)
{
	struct growth *n = ctx;

	return commit(n->grow->target, n->grow->infection, &n->live, &n->grow->commit);
}

/* The names of before have their places in the new table; calls that are open
 * refer to the old one, which stays. */
static void merge_names(struct live *all, struct live *fresh)
{
	struct reader_func *before = all->funcs;
	size_t nbefore = all->nfuncs;

	for (size_t i = 0; i < MIN(all->nfuncs, fresh->nfuncs); i++)
		if (strcmp(fresh->funcs[i].module, "?") == 0)
			fresh->funcs[i] = before[i];
	all->funcs = fresh->funcs;
	all->nfuncs = fresh->nfuncs;
	fresh->funcs = before;
	fresh->nfuncs = nbefore;
}

static struct module *module_at(const struct modules *mods, raddr_t addr)
{
	for (size_t i = 0; i < mods->n; i++)
		if (range_has(mods->v[i].span, addr))
			return &mods->v[i];
	return NULL;
}

/* Does a new library hold there what its file holds? */
static bool is_replaced(const struct growth *n, const struct change *c)
{
	const struct module *m = module_at(&n->mods, c->addr);
	uint8_t now[CHANGE_MAX];
	size_t there;

	if (!m || !m->symbols || target_read(n->grow->target, c->addr, now, c->len) < 0)
		return false;
	const uint8_t *file = symbols_text(m->symbols, c->addr - m->bias, &there);
	return file && there >= c->len && memcmp(file, now, c->len) == 0;
}

/* What was written where a new library is went with the one before. Not so what a
 * debugger has written over: it may put our jump back. */
static int merge_changes(struct growth *n)
{
	struct live *all = n->grow->live;
	size_t kept = 0;

	for (size_t i = 0; i < all->nchanges; i++)
		if (!is_replaced(n, &all->changes[i]))
			all->changes[kept++] = all->changes[i];
	fail_clear();
	all->nchanges = kept;
	for (size_t i = 0; i < n->live.nchanges; i++) {
		struct change *c = vec_push(all->changes, all->nchanges, all->changes_cap);

		if (!c)
			return fail(ENOMEM, "list the changes");
		*c = n->live.changes[i];
	}
	return 0;
}

/* 4 to 9. What is to stand is listed before it does. */
static int probe_new(struct growth *n, struct follow *f)
{
	struct grow *g = n->grow;
	int err = grow_adopt(n);

	err = err ? err : islands_choose(g->target, &n->sel, &n->islands);
	err = err ? err : needs_list(&n->sel, &n->needs, &n->slots);
	if (err || !n->slots)
		return err;
	err = tracing(make_room, n);
	islands_check(&n->islands, &n->sel);
	err = err ? err : probes_place(g->target, g->infection, &n->sel, n->needs, &n->live);
	err = err ? err : merge_changes(n);
	if (err || !n->live.nchanges)
		return err;
	merge_names(g->live, &n->live);
	err = follow_name(f, g->live->funcs, g->live->nfuncs) ?:
	      follow_modules(f, &n->mods) ?: tracing(put_in, n);
	if (!err) {
		g->live->nprobed += n->live.nprobed;
		g->live->nentry_only += n->live.nentry_only;
		g->live->ntraps += n->live.ntraps;
	}
	return err;
}

static void say_new(const struct growth *n)
{
	for (size_t i = 0; i < n->sel.n; i++) {
		const struct selected *s = &n->sel.v[i];
		size_t probed = 0, all = 0;

		for (size_t j = 0; j < s->n; j++) {
			probed += s->probes[j].refusal == REFUSED_NONE && !s->probes[j].hidden;
			all += !s->probes[j].hidden;
		}
		if (all)
			say_hint("%s was loaded: %zu of %zu function%s probed", s->module->base,
				 probed, all, all == 1 ? "" : "s");
	}
}

static void growth_free(struct growth *n)
{
	live_clear(&n->live);
	islands_clear(&n->islands);
	free(n->needs);
	select_clear(&n->sel);
	modules_close(&n->mods);
	free(n);
}

/* When the list changes next, they are looked at again. */
static void grow_forget(struct growth *n)
{
	struct grow *g = n->grow;

	for (size_t i = 0; i < n->mods.n; i++) {
		struct grown_module *k = find_known(g, &n->mods.v[i]);

		if (k)
			*k = g->known[--g->known_n];
	}
}

/* It came, and went again while we looked. */
static bool was_unloaded(const struct growth *n)
{
	uint8_t byte;

	for (size_t i = 0; i < n->sel.n; i++)
		if (target_read(n->grow->target, n->sel.v[i].module->maps[0].start, &byte, 1) < 0)
			return true;
	return false;
}

static void grow_report(struct growth *n, int err)
{
	struct grow *g = n->grow;

	/* What ends meanwhile cannot be read, and looks like another's. */
	if (!n->live.nprobed && !procfs_live_thread(g->target->pid))
		return;
	if (!err) {
		take_samples(g, &n->live);
		g->nfuncs += n->sel.nfuncs;
		g->refused += refused_count(&n->sel);
		say_new(n);
		return;
	}
	live_removed(&n->live, n->grow->infection);
	grow_forget(n);
	/* The process has ended, or is to be left: not worth a word. */
	struct cause cause = fail_keep();

	if (err != -ESRCH && err != -EINTR && !was_unloaded(n))
		say_hint("a library that was loaded later is not probed: %s", cause.text);
}

/* Every growth keeps files open, and a table of names. */
static bool is_full(struct grow *g)
{
	if (g->ngrowths < MOST_GROWTHS)
		return false;
	say_hint("libraries were loaded %d times; what comes now is not probed", MOST_GROWTHS);
	g->list.at = 0;
	return true;
}

/* True if there was something to do. */
static bool look_for_new(struct grow *g, struct follow *f)
{
	struct growth *n = is_full(g) ? NULL : calloc(1, sizeof(*n));
	uint64_t before = g->target->longest_pause;

	if (!n)
		return false;
	n->grow = g;
	int err = plan_new(n);
	if (!n->sel.n) {
		growth_free(n);
		return false;
	}
	n->before = g->growths;
	g->growths = n;
	g->ngrowths++;
	g->target->longest_pause = 0;
	err = err ? err : probe_new(n, f);
	g->pause = MAX(g->pause, g->target->longest_pause);
	g->target->longest_pause = before;
	grow_report(n, err);
	return true;
}

void grow_tick(struct grow *g, struct follow *f)
{
	uint64_t now = clock_monotonic(), looks;

	if (!g->list.at || now < g->next)
		return;
	if (look_at_list(g, &looks) && (looks != g->seen || forget_reloaded(g))) {
		g->seen = looks;
		if (!look_for_new(g, f))
			g->next = now + SHARE * (clock_monotonic() - now);
	}
	fail_clear();
}

void grow_clear(struct grow *g)
{
	while (g->growths) {
		struct growth *n = g->growths;

		g->growths = n->before;
		growth_free(n);
	}
	free(g->known);
	g->known = NULL;
}

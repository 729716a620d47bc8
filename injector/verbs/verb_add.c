/* SPDX-License-Identifier: MIT */
/*
 * add: probe further functions in a session that goes on by itself.
 *
 * Only the target maps its memory. So the head and the journal are copied, the
 * attach works on the copy, and what has changed is written back where it has to be
 * known before the next step (numbers as in attach.c):
 *
 *  2. 3. functions, and where jumps can stand
 *  4. room for stubs; written back: the arenas
 *  5. stubs; written: what is read of their calls (add_values.h); written back: the names, for
 *     which there may be no room, the gates, and then the journal: plans and names alone are no
 *     probes, and slots that are in it once stay
 *  6. to 9. the jumps; written back: their states; and that memory may be read, if what tells of
 *     seccomp filters stands by now
 *
 * The new plan knows nothing of the probes that stand. Whatever they have changed
 * differs from its file, and is not touched (probes_check); what a pun of theirs
 * keeps is asked for here.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/arch.h"
#include "injector/islands/islands.h"
#include "injector/log/say.h"
#include "injector/patch/commit.h"
#include "injector/patch/writes.h"
#include "injector/proc/signals.h"
#include "injector/ptrace/preflight.h"
#include "injector/ptrace/pace.h"
#include "injector/ptrace/tracing.h"
#include "injector/remote/handlers.h"
#include "injector/session/notes.h"
#include "injector/show/describe.h"
#include "injector/show/refused.h"
#include "injector/verbs/add_values.h"
#include "injector/verbs/verbs.h"
#include "injector/verbs/visit.h"

struct adding {
	const struct options *options;
	struct visit visit;
	struct modules mods;
	struct selection sel;
	struct islands islands;
	struct arena_need *needs;
	uint32_t slots;
	struct live old, live;	/* what stands; what comes */
	struct infection inf;	/* the copy */
	struct add_values values;
	struct description description;
	bool nothing;		/* no function matched, or every one was refused */
};

/* ---- the copy ------------------------------------------------------------ */

static int copy_session(struct adding *a)
{
	const struct old_session *old = &a->visit.session;
	struct session_map *map = &a->inf.map;
	void *p = mmap(NULL, old->mapped, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return fail(errno, "copy the session");
	*map = (struct session_map){ .s = p, .slots = (void *)((char *)p + SLOTS_OFF), .fd = -1,
		.shape = { old->s.max_slots, old->s.nrings, old->s.nsub, .total = old->mapped } };
	memcpy(map->s, &old->s, sizeof(old->s));
	memcpy(map->slots, old->slots, old->s.nslots * sizeof(struct slot));
	a->inf.base = old->base;
	return segment_read(&a->visit.segment, GATES_OFF, (char *)p + GATES_OFF, old->s.nfuncs);
}

static int write_back(struct adding *a, size_t from, size_t to)
{
	return segment_write(&a->visit.segment, from, (char *)a->inf.map.s + from, to - from);
}

#define BACK(a, first, last) write_back(a, offsetof(struct session, first), \
	offsetof(struct session, last) + sizeof((a)->inf.map.s->last))

/* Slots first: their number makes them known. */
static int write_journal(struct adding *a)
{
	const struct session *s = a->inf.map.s;
	int err = write_back(a, SLOTS_OFF, SLOTS_OFF + (size_t)s->nslots * sizeof(struct slot));

	err = err ? err : BACK(a, narenas, arenas);
	return err ? err : BACK(a, nslots, nslots);
}

/* ---- steps --------------------------------------------------------------- */

/* Where entries, or places, have probes, run-time. There may be as many as there are functions, so
 * each function is looked for among them, and they are not gone through for each. */
struct probed {
	raddr_t *v;	/* sorted; owned */
	size_t n;
};

static int find_probed(const struct visit *v, enum slot_kind kind, struct probed *ret)
{
	*ret = (struct probed){ .v = calloc(v->session.s.nslots + 1, sizeof(*ret->v)) };
	if (!ret->v)
		return fail(ENOMEM, "look for what is probed already");
	for (uint32_t i = 0; i < v->session.s.nslots; i++) {
		const struct slot *s = &v->session.slots[i];

		if (s->kind == kind && (s->state == SLOT_ACTIVE || s->state == SLOT_PLANNED))
			ret->v[ret->n++] = s->addr;
	}
	base_sort(ret->v, ret->n, sizeof(*ret->v));
	return 0;
}

/* Does the entry of a function at `r`, run-time, have a probe? */
static bool is_probed(const struct probed *probed, struct range r)
{
	size_t n = vec_prefix(probed->n, i, probed->v[i] < r.start);

	return n < probed->n && (probed->v[n] == r.start || range_has(r, probed->v[n]));
}

static bool is_probed_place(const struct probed *probed, const struct selected *s, size_t i)
{
	bool ret = false;

	for (size_t k = 0; k < s->probes[i].nsites && !ret; k++) {
		raddr_t at = s->probes[i].sites[k].site.jump.pc + s->module->bias;

		ret = is_probed(probed, (struct range){ at, at });
	}
	return ret;
}

static size_t refuse_probed(struct adding *a, const struct probed *probed,
			    const struct probed *places)
{
	size_t n = 0;

	for (size_t i = 0; i < a->sel.n; i++) {
		const struct selected *s = &a->sel.v[i];

		for (size_t j = 0; j < s->nprobes; j++) {
			struct range r = s->funcs[j]->range;

			r.start += s->module->bias;
			r.end += s->module->bias;
			if (selected_place(s, j) ? !is_probed_place(places, s, j) :
			    !is_probed(probed, r))
				continue;
			s->probes[j].refusal = REFUSED_PROBED;
			n += j < s->n;
		}
	}
	return n;
}

static int leave_probed(struct adding *a)
{
	struct probed probed = { 0 }, places = { 0 };
	int err = find_probed(&a->visit, SLOT_ENTRY, &probed);

	err = err ? err : find_probed(&a->visit, SLOT_PLACE, &places);
	/* Of a file that cannot be read it is not known what would match. */
	if (!err)
		a->nothing = refuse_probed(a, &probed, &places) == a->sel.nfuncs &&
			!a->sel.unread[0];
	free(probed.v);
	free(places.v);
	return err;
}

/* 2. and 3. */
static int add_choose(struct adding *a)
{
	const struct options *o = a->options;
	struct target *t = &a->visit.target;
	struct select_options so = {
		.include = o->include, .ninclude = o->ninclude,
		.exclude = o->exclude, .nexclude = o->nexclude,
		.usdt = o->usdt, .nusdt = o->nusdt, .entry_only = o->entry_only,
		.finders = true, .guards = add_values_guards(&a->values),
		.progress = say_progress,
	};

	so.caught = handlers_caught(t, &a->mods);
	int err = select_functions(&a->mods, &so, &a->sel);
	say_progress_end();
	err = err ? err : leave_probed(a);
	if (err)
		return err;
	auto_free char *hint = select_hint(&a->mods, &so);
	if (!a->sel.nfuncs)
		return fail(0, "nothing to probe in %d%s%s\n%s", t->pid,
			    a->sel.unread[0] ? ": " : "", a->sel.unread, hint ? hint : "");
	if (hint)
		say_lines(hint);
	if (a->nothing)
		return fail(0, "nothing to add: every function that matches is probed already");
	err = add_values_choose(&a->values, &a->mods, &a->sel);
	err = err ? err : probes_check(t, &a->sel);
	const struct adopt_ids ids = { add_values_same, &a->values };
	err = err ? err : probes_adopt(t, &a->visit.session, &a->sel, &ids);
	return err ? err : islands_choose(t, &a->sel, &a->islands);
}

static int make_room(void *ctx)
{
	struct adding *a = ctx;
	struct infect_options o = { .reach = arch_host()->reach, .needs = a->needs,
				    .nneeds = a->sel.n, .islands = &a->islands };

	return infect_more(&a->visit.target, &a->mods, &o, &a->inf);
}

/* Which functions would write what a jump keeps that stands? */
static int find_writers(const struct adding *a, bool *in)
{
	struct writes w;
	int err = writes_make(a->live.changes, a->live.nchanges, &w);

	for (size_t i = 0; !err && i < a->old.nchanges; i++) {
		const struct change *pun = &a->old.changes[i];
		raddr_t kept = pun->addr + pun->len;

		for (raddr_t b = kept; b < kept + pun->kept; b++) {
			const struct change *c = writes_at(&w, b);

			if (c && c->func < a->live.nfuncs)
				in[c->func] = true;
		}
	}
	writes_clear(&w);
	return err;
}

/* A jump that stands may rely on bytes that a new one would write. */
static int drop_kept(struct adding *a)
{
	auto_free bool *in = calloc(a->live.nfuncs + 1, sizeof(*in));
	int err = in ? find_writers(a, in) : fail(ENOMEM, "check the jumps");
	size_t i = 0;

	while (!err && i < a->live.nsites) {
		struct placed_probe *p = a->live.sites[i++].probe;

		if (p->id >= a->live.nfuncs || !in[p->id])
			continue;
		live_drop(&a->live, &a->inf, p, REFUSED_OUT_OF_REACH);
		i = 0;
	}
	return err;
}

/* 4. and the stubs of 5. */
static int add_place_probes(struct adding *a)
{
	int err = needs_list(&a->sel, &a->needs, &a->slots);

	if (!err && a->inf.map.s->nslots + a->slots > a->inf.map.shape.max_slots)
		return fail(ENOSPC, "the journal has no room for %u more places; stop, and start "
			    "with all that is wanted", a->slots);
	err = err ? err : tracing(make_room, a);
	err = err ? err : BACK(a, narenas, arenas);
	if (err)
		return err;
	islands_check(&a->islands, &a->sel);
	err = probes_place(&a->visit.target, &a->inf, &a->sel, a->needs, &a->live);
	err = err ? err : drop_kept(a);
	a->nothing = !err && !a->live.nprobed;
	if (a->nothing)
		refused_say(&a->sel, a->visit.target.pid, a->options->verbose);
	if (a->nothing)
		return fail(0, "nothing to add: every function that matches was refused");
	return err ? err : add_values_write(&a->values, &a->sel);
}

/* Which calls pass of what has come, where that is not what the session asks of all. */
static void name_conditions(const struct adding *a)
{
	for (size_t i = 0; i < a->sel.n && a->values.own; i++)
		for (size_t j = 0; j < a->sel.v[i].n; j++) {
			const struct placed_probe *p = &a->sel.v[i].probes[j];

			if (!p->refusal && p->id < a->live.nfuncs)
				a->live.funcs[p->id].when = a->values.when;
		}
}

/* Names of functions that are probed already, or were, have their places. */
static int write_names(struct adding *a)
{
	const struct about *before = &a->visit.notes.about;
	struct about about = *before;
	int err;

	/* As start does it: a file may be read when the process is no more. */
	for (size_t i = 0; i < a->mods.n && a->visit.session.file &&
	     a->visit.session.s.callers_size; i++)
		if (module_symbols(&a->mods.v[i]) < 0)
			fail_clear();
	err = describe(a->visit.target.pid, &a->mods, &a->description);
	for (size_t i = 0; i < MIN(before->nfuncs, a->live.nfuncs); i++)
		if (strcmp(a->live.funcs[i].module, "?") == 0)
			a->live.funcs[i] = before->funcs[i];
	name_conditions(a);
	about.funcs = a->live.funcs;
	about.nfuncs = a->live.nfuncs;
	about.modules = a->description.about.modules;
	about.nmodules = a->description.about.nmodules;
	about.probed += a->live.nprobed;
	about.refused += refused_count(&a->sel);
	return err ? err : notes_write(&a->visit.segment, a->inf.map.s, &about);
}

static int put_in(void *ctx)
{
	struct adding *a = ctx;
	struct commit_options o = { .mods = &a->mods, .cancelled = signals_stop_wanted,
				    .max_pause = a->options->max_pause };

	return commit(&a->visit.target, &a->inf, &a->live, &o);
}

/* What did not come to stand is no business of a later visit. */
static void add_disown(struct adding *a)
{
	struct cause cause = fail_keep();

	for (size_t i = 0; i < a->live.nchanges; i++)
		a->inf.map.slots[a->live.changes[i].slot].state = SLOT_REMOVED;
	write_journal(a);
	fail_give_back(&cause);
}

/* In the stop no filter was against it, and now what tells of those that come stands. (Of one that
 * has come since the payload was told: it does not ask, whatever the session allows.) */
static int allow_reads(struct adding *a)
{
	const struct session *s = a->inf.map.s;

	if (a->visit.session.s.reads == READS_BY_CALL)
		return 0;
	if (s->reads == READS_BY_CALL)
		return BACK(a, reads, reads);
	if (add_values_guards(&a->values))
		say_hint("what pointers lead to, and stacks but the main thread's beyond a page, "
			 "are not read: nothing would tell of a seccomp filter that forbids it, or "
			 "one does (--unguarded)");
	return 0;
}

static int add_probes(struct adding *a)
{
	struct visit *v = &a->visit;
	int err = visit_claimed(v);

	err = err ? err : add_values_begin(&a->values, v, a->options);
	err = err ? err : preflight(v->target.pid);
	err = err ? err : modules_open_process(v->target.pid, &a->mods);
	if (!err)
		visit_tell_gone(v, &a->mods);
	err = err ? err : visit_changes(v, &a->old);
	err = err ? err : add_choose(a);				/* 2, 3 */
	err = err ? err : copy_session(a);
	if (err)
		return err;
	err = add_place_probes(a);					/* 4, 5 */
	err = err ? err : write_names(a);
	if (err)
		return err;
	err = write_back(a, GATES_OFF, GATES_OFF + a->inf.map.s->nfuncs);
	err = err ? err : write_journal(a);
	a->inf.map.s->reads = add_values_reads(&a->values, &a->sel) ? READS_BY_CALL :
		v->session.s.reads;
	err = err ? err : tracing(put_in, a);				/* 6 to 9 */
	if (err)
		add_disown(a);
	err = err ? err : write_journal(a);
	return err ? err : allow_reads(a);
}

static void say_added(const struct adding *a)
{
	refused_say(&a->sel, a->visit.target.pid, a->options->verbose);
	say("%zu function%s added to those that are probed in %d; paused %.1f ms", a->live.nprobed,
	    a->live.nprobed == 1 ? "" : "s", a->visit.target.pid,
	    (double)a->visit.target.longest_pause / 1e6);
}

static void adding_clear(struct adding *a)
{
	add_values_clear(&a->values);
	live_clear(&a->live);
	live_clear(&a->old);
	islands_clear(&a->islands);
	free(a->needs);
	infection_clear(&a->inf);
	select_clear(&a->sel);
	describe_clear(&a->description);
	modules_close(&a->mods);
	visit_close(&a->visit);
}

int verb_add(const struct options *o)
{
	struct adding a = { .options = o, .inf.map.fd = -1 };

	say_quiet(o->quiet);
	pace_set(PACE_LEISURE);
	int err = signals_begin();
	err = err ? err : visit_open(o->pid, &a.visit);
	if (err)
		return verb_failed(err);
	err = add_probes(&a);
	if (!err)
		say_added(&a);
	int status = !err ? STATUS_DONE :
		verb_failed(preflight_again(preflight_session, o->pid, err));
	if (err && a.nothing)
		status = STATUS_NOTHING;
	adding_clear(&a);
	return status;
}

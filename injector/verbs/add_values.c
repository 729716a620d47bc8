/* SPDX-License-Identifier: MIT */
#include "injector/verbs/add_values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "injector/log/say.h"
#include "injector/proc/procfs.h"
#include "injector/session/callers_later.h"
#include "injector/verbs/filter_when.h"
#include "plan/plan.h"

static bool wants_values(const struct options *o)
{
	return o->args || o->nby_hand;
}

/* How long a call takes, and how deep it is, are terms of a condition as any: only so are these of
 * single functions. What the session itself leaves out it does besides. */
static int make_condition(struct add_values *a)
{
	const struct options *o = a->options;
	const char *base = o->when ?: a->visit->notes.about.filter.when;

	a->own = o->when || o->min_duration || o->depth;
	return options_terms(o, base, &a->when);
}

static int check_room(const struct add_values *a)
{
	const struct session *s = &a->visit->session.s;
	const struct options *o = a->options;
	int pid = a->visit->target.pid;
	const char *what = wants_values(o) ? "what is read of calls" :
		a->when ? "a condition" : NULL;

	if ((what || o->stack) && !s->plans_funcs)
		return fail(0, "the session of %d has no room for %s, for it was started in a file, "
			    "or where addresses are few, without -a, -w and --stack; stop, and start "
			    "with what is wanted", pid, what ?: "callers");
	if (o->stack && !s->callers_size)
		return fail(0, "the session of %d has no room for callers, for it was started in a "
			    "file, or where addresses are few, without --stack; stop, and start with "
			    "it", pid);
	return 0;
}

int add_values_begin(struct add_values *a, struct visit *v, const struct options *o)
{
	*a = (struct add_values){ .options = o, .visit = v };
	int err = make_condition(a);

	err = err || !a->when ? err : filter_sifts(v);
	return err ? err : check_room(a);
}

bool add_values_guards(const struct add_values *a)
{
	return a->visit->session.s.reads != READS_BY_CALL &&
		(wants_values(a->options) || a->when || a->options->stack);
}

int add_values_choose(struct add_values *a, struct modules *mods, struct selection *sel)
{
	struct valued_options o = options_valued(a->options, false);
	int err = 0;

	o.when = a->when;
	o.mods = mods;
	if (a->when)
		err = filter_tell_cpu(a->visit, mods, a->when, &o.tells_cpu);
	err = err ? err : valued_choose(&o, sel);
	if (err && a->when && !a->own)
		say("the session asks that of all its calls; add -w has another condition for "
			  "these, -w true none");
	if (err || !a->options->stack)
		return err;
	valued_choose_callers(sel);
	err = callers_read(&a->callers, mods);
	return err ? err : callers_find_signals(&a->callers, &a->visit->target, mods);
}

bool add_values_same(const void *ctx, uint32_t id, const struct placed_probe *p)
{
	const struct about *about = &((const struct add_values *)ctx)->visit->notes.about;
	size_t n = p->valued ? p->valued->packed.n : 0;

	/* Of what has no name nothing was recorded. */
	if (id >= about->nfuncs || strcmp(about->funcs[id].module, "?") == 0)
		return true;
	return about->funcs[id].nvalues == n &&
		(!n || !memcmp(about->funcs[id].values, p->valued->packed.v, n));
}

/* ---- memory ---------------------------------------------------------------- */

/* Is it probed so that the payload is asked? */
static bool is_guarded(const struct visit *v, raddr_t entry)
{
	for (uint32_t i = 0; i < v->session.s.nslots; i++) {
		const struct slot *s = &v->session.slots[i];
		uint8_t gate;

		if (s->kind != SLOT_ENTRY || s->addr != entry ||
		    (s->state != SLOT_ACTIVE && s->state != SLOT_PLANNED))
			continue;
		if (s->func < 1u << REC_FUNC_BITS &&
		    !segment_read(&v->segment, GATES_OFF + s->func, &gate, sizeof(gate)) &&
		    gate == GATE_GUARDS)
			return true;
	}
	fail_clear();
	return false;
}

/* As valued_guarded, with what stands already. */
static bool all_guarded(const struct visit *v, const struct selection *sel)
{
	bool any = false, all = true;

	for (size_t i = 0; i < sel->n; i++)
		for (size_t j = 0; j < sel->v[i].nprobes; j++) {
			const struct selected *s = &sel->v[i];
			const struct placed_probe *p = &s->probes[j];

			if (!p->guards)
				continue;
			any = true;
			all &= !p->refusal || (p->refusal == REFUSED_PROBED &&
				is_guarded(v, s->funcs[j]->range.start + s->module->bias));
		}
	return any && all;
}

bool add_values_reads(const struct add_values *a, const struct selection *sel)
{
	return add_values_guards(a) && !procfs_serves_faults(a->visit->target.pid) &&
		(all_guarded(a->visit, sel) || a->options->unguarded);
}

/* ---- the session ----------------------------------------------------------- */

static enum callers_of callers_of(const struct placed_probe *p)
{
	if (!p->callers)
		return CALLERS_NONE;
	return p->planned->routines == ROUTINES_MOVED ? CALLERS_MOVED :
		p->nsites && p->sites[0].site.place ? CALLERS_PLACE : CALLERS_ENTRY;
}

/* Also of one of which nothing is read: its number may have been another's, of an add that was
 * killed. */
static int write_probe(struct add_values *a, const struct placed_probe *p)
{
	const struct session *s = &a->visit->session.s;
	bool read = valued_is_read(p);
	int err = 0;

	if (s->plans_funcs && (read || p->id < s->plans_funcs))
		err = plans_put(&a->plans, p->id, read ? p->valued : NULL);
	if (!err && s->callers_size && (p->callers || p->id < s->plans_funcs))
		err = callers_later_choose(&a->visit->segment, s, p->id, callers_of(p));
	return err;
}

int add_values_write(struct add_values *a, const struct selection *sel)
{
	struct visit *v = a->visit;
	const struct session *s = &v->session.s;
	int err = 0;

	if (a->options->stack)
		err = callers_later(&a->callers, &v->segment, s, a->options->stack);
	if (!err && s->plans_funcs)
		err = plans_open(&v->target, &v->segment, s, &a->plans);
	for (size_t i = 0; i < sel->n; i++)
		for (size_t j = 0; j < sel->v[i].nprobes && !err; j++)
			if (!sel->v[i].probes[j].refusal)
				err = write_probe(a, &sel->v[i].probes[j]);
	return err || !s->plans_funcs ? err : plans_switch(&a->plans);
}

void add_values_clear(struct add_values *a)
{
	plans_close(&a->plans);
	callers_clear(&a->callers);
	free(a->when);
}

/* SPDX-License-Identifier: MIT */
#include "injector/modules/valued.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "injector/modules/conditioned.h"
#include "values/condition_early.h"
#include "values/hand.h"

/* A place has its own name alone. */
static bool has_name(const struct selected *s, size_t i, const struct hand_spec *spec)
{
	const struct func *f = selected_place(s, i) ? NULL : s->funcs[i];
	const char *names[] = { s->names[i], f ? f->name : NULL, f ? f->raw : NULL };

	for (size_t j = 0; j < ARRAY_SIZE(names); j++)
		if (names[j] && inlined_bare(names[j], strlen(names[j])) == spec->name &&
		    !memcmp(names[j], spec->text, spec->name))
			return true;
	return false;
}

/* Where the stack pointer has moved since the entry, what is on the stack lies elsewhere. */
static void leave_stack(struct signature *s)
{
	for (size_t i = 0; i < s->nparams; i++)
		for (unsigned int k = 0; k < s->params[i].place.n; k++)
			if (s->params[i].place.pieces[k].from == FROM_STACK)
				s->params[i].place = (struct place){ .kind = PLACE_UNKNOWN };
}

static int by_hand(const struct hand_spec *spec, struct signature *ret)
{
	struct hand_error error;
	size_t name;
	int err = hand_parse(spec->text, arch_host()->machine, ret, &name, &error);

	return err ? fail(-err, "read '%s'", spec->text) : 0;
}

/* `types` NULL: there is none by hand. Of a place that no note tells of it is the registers which
 * the convention has at an entry. */
static int place_signature(const struct valued_options *o, const struct selected *s, size_t i,
			   const struct hand_spec *types, struct signature *ret)
{
	const struct marked_place *place = selected_place(s, i);
	const struct usdt_site *site = place->site;

	if (site && (types || o->usdt || o->known))
		return module_usdt_signature(s->module, site, types ? types->text : NULL, ret);
	if (!types)
		return !site && o->known ?
			module_signature_at(s->module, place, ret) : -ENOENT;
	int err = by_hand(types, ret);

	if (!err)
		leave_stack(ret);
	return err;
}

static int find_signature(const struct valued_options *o, const struct selected *s, size_t i,
			  bool *used, struct signature *ret)
{
	bool place = selected_place(s, i);

	for (size_t j = 0; j < o->nspecs; j++)
		if (has_name(s, i, &o->specs[j])) {
			used[j] = true;
			return place ? place_signature(o, s, i, &o->specs[j], ret) :
				by_hand(&o->specs[j], ret);
		}
	if (place)
		return place_signature(o, s, i, NULL, ret);
	return o->known ? module_signature(s->module, s->funcs[i], ret) : -ENOENT;
}

/* Which results of the entry's does the exit need, and registers of which kind? */
int valued_plan(const struct read_plan *plan, const struct condition *c, struct valued *v)
{
	size_t size = ALIGN_UP(offsetof(struct capture_plan, plan.ops) +
			       plan->nops * sizeof(plan->ops[0]), 8);

	if (!plan->nops && !c)
		return 0;
	v->size = size + (c ? sizeof(*c) : 0);
	v->plan = calloc(1, v->size);
	if (!v->plan)
		return -ENOMEM;
	v->plan->kept = reads_kept(plan);
	memcpy(&v->plan->plan, plan, offsetof(struct read_plan, ops) +
	       plan->nops * sizeof(plan->ops[0]));
	for (size_t i = 0; i < plan->nops; i++) {
		if (plan->ops[i].source == READ_VECTOR)
			v->plan->vectors = plan->ops[i].index < CAPTURE_VECTORS ?
				MAX(v->plan->vectors, VECTORS_FIRST) : VECTORS_ALL;
		v->plan->x87 |= plan->ops[i].source == READ_X87;
	}
	if (c) {
		condition_early(c, plan, arch_host()->arguments, arch_host()->narguments,
				&v->plan->early);
		v->plan->condition = (uint32_t)(size / 8);
		memcpy((uint8_t *)v->plan + size, c, sizeof(*c));
	}
	return 0;
}

/* One function, as it is looked at. */
struct choosing {
	const struct valued_options *o;
	struct selection *sel;
	bool *used;		/* of the signatures by hand */
	struct conditions conditions;
	bool plain;		/* the condition asks for no values */
	bool any;		/* a function has what it asks for */
};

/* On stacks that a runtime makes another thread may run when the call ends, and so the records are
 * all that tells of it. */
static bool is_moved(const struct placed_probe *p)
{
	return p->planned->routines != ROUTINES_C;
}

static int copy_condition(const struct condition *c, struct condition **ret)
{
	*ret = malloc(sizeof(**ret));
	if (*ret)
		**ret = *c;
	return *ret ? 0 : -ENOMEM;
}

/* `s` NULL: nothing is shown of what is read. */
static int read_of(struct choosing *c, const struct signature *s, const struct read_plan *plan,
		   const struct condition *condition, struct placed_probe *probe)
{
	bool outside = condition && c->o->outside;
	struct selection *sel = c->sel;
	struct valued **at = vec_push(sel->valued, sel->nvalued, sel->valued_cap);
	struct valued *v = at ? *at = calloc(1, sizeof(*v)) : NULL;
	int err = !v ? -ENOMEM : s ? values_pack(s, plan, &v->packed) : 0;

	err = err ? err : valued_plan(plan, outside ? NULL : condition, v);
	if (!err && outside)
		err = copy_condition(condition, &v->asked);
	if (!err)
		probe->valued = v;
	return err;
}

/* C takes more of a stack that moves than is there where a function asks for none; on arm64 than is
 * there where one asks. */
static bool has_room(const struct placed_probe *p)
{
	enum plan_routines routines = p->planned->routines;

	return !p->refusal && (routines == ROUTINES_C ||
			       (routines == ROUTINES_MOVED && arch_host()->room_to_capture));
}

/* Why that cannot be asked of this function. */
static int refuse(struct choosing *c, const struct selected *s, size_t i, const char *why)
{
	if (c->conditions.tells < WHY_WRONG)
		snprintf(c->conditions.why, sizeof(c->conditions.why), "-w: of %s, %s",
			 s->names[i], why);
	c->conditions.tells = WHY_WRONG;
	return -ENOENT;
}

/* Signatures are asked for the condition, too; but what -a shows is read for -a alone. */
static int choose_known(struct choosing *c, const struct selected *s, size_t i,
			const struct signature *signature, bool shown, bool when)
{
	struct read_plan plan = { .machine = arch_host()->machine };
	struct condition condition;
	int err = 0;

	if (shown)
		reads_compile(signature, &c->o->compile, &plan);
	if (is_moved(&s->probes[i]) && reads_kept(&plan))
		plan.nops = plan.nentry;
	if (when)
		err = conditioned_compile(&c->conditions, s->names[i], selected_place(s, i),
					  signature, &plan, &condition);
	if (!err && when && is_moved(&s->probes[i]) && reads_kept(&plan))
		err = refuse(c, s, i, "which may return in another thread, nothing is read at the "
				      "return by what the entry has read");
	else if (!err && when && plan.nops && !has_room(&s->probes[i]))
		err = refuse(c, s, i, "whose calls have hardly any stack, no values are read: tid, "
				      "depth, comm, duration and 1 in N can be asked for");
	if (err == -ENOENT) {
		s->probes[i].refusal = REFUSED_CONDITION;
		return 0;
	}
	c->any |= when;
	return err ? err : read_of(c, shown ? signature : NULL, &plan,
				   when ? &condition : NULL, &s->probes[i]);
}

/* Does the condition ask for its calls? Of spans it does for those with which they begin. */
static bool is_conditioned(const struct valued_options *o, const struct selected *s, size_t i)
{
	bool ret = !o->npoints;

	for (size_t k = 0; k < o->npoints && !ret; k++) {
		const struct span_point *p = &o->points[k];
		bool exact = false;

		ret = !p->ends && !p->usdt && !selected_place(s, i) &&
			module_is_meant(s->module, &p->pattern, false) &&
			pattern_match(&p->pattern, s->module->symbols, s->funcs[i], &exact);
	}
	return o->when && ret;
}

static int choose_one(struct choosing *c, const struct selected *s, size_t i)
{
	struct valued_options asked = *c->o;
	bool when = is_conditioned(c->o, s, i);
	struct signature signature;
	int err = -ENOENT;

	if (s->probes[i].refusal || selected_is_hidden(s, i) || (!when && !has_room(&s->probes[i])))
		return 0;
	if (when && !c->o->outside && is_moved(&s->probes[i])) {
		s->probes[i].refusal = REFUSED_CONDITION;
		refuse(c, s, i, "calls are judged by inject as it reads what is recorded; "
				"trace, slow and record do so");
		return 0;
	}
	err = find_signature(c->o, s, i, c->used, &signature);
	bool shown = !err && has_room(&s->probes[i]);

	if (err == -ENOENT && when && !c->plain) {
		asked.known = true;
		err = find_signature(&asked, s, i, c->used, &signature);
	}
	if (err && (err != -ENOENT || !when))
		return err == -ENOENT ? 0 : err;
	bool known = !err;

	err = choose_known(c, s, i, known ? &signature : NULL, shown, when);
	if (known)
		signature_clear(&signature);
	return err;
}

/* Then it is the same for all functions, and nothing has to be known of them. */
static bool is_plain(const struct valued_options *o, const struct conditions *all)
{
	struct conditions conditions = *all;
	struct read_plan plan = { .machine = arch_host()->machine };
	struct condition condition;
	bool ret = o->when && !conditioned_compile(&conditions, "", false, NULL, &plan, &condition);

	fail_clear();
	return ret;
}

int valued_choose(const struct valued_options *o, struct selection *sel)
{
	auto_free bool *used = calloc(o->nspecs + 1, sizeof(*used));
	struct choosing c = { .o = o, .sel = sel, .used = used,
			      .conditions = { .text = o->when, .mods = o->mods,
					      .left = o->left, .outside = o->outside,
					      .tells_cpu = o->tells_cpu,
					      .entry_only = o->entry_only } };
	int err = used ? 0 : -ENOMEM;

	c.plain = is_plain(o, &c.conditions);
	for (size_t i = 0; i < sel->n && !err && valued_any(o); i++)
		for (size_t j = 0; j < sel->v[i].n && !err; j++)
			err = choose_one(&c, &sel->v[i], j);
	for (size_t i = 0; i < o->nspecs && !err && !o->later; i++)
		if (!used[i])
			err = fail(0, "-A '%s': no function %.*s is probed whose arguments could "
				   "be read", o->specs[i].text, (int)o->specs[i].name,
				   o->specs[i].text);
	if (!err && o->when && !c.any && c.conditions.why[0] && !o->later)
		err = fail(0, "%s", c.conditions.why);
	return err == -ENOMEM ? fail(ENOMEM, "list arguments") : err;
}

bool valued_is_read(const struct placed_probe *p)
{
	return p->valued && p->valued->size;
}

bool valued_calls_c(const struct placed_probe *p)
{
	return p->callers || valued_is_read(p);
}

bool valued_exit_calls_c(const struct placed_probe *p)
{
	return valued_is_read(p) && p->valued->plan->plan.nops > p->valued->plan->plan.nentry;
}

void valued_choose_callers(struct selection *sel)
{
	for (size_t i = 0; i < sel->n; i++)
		for (size_t j = 0; j < sel->v[i].n; j++) {
			struct placed_probe *p = &sel->v[i].probes[j];

			p->callers = !p->refusal && (p->planned->routines == ROUTINES_C ||
				     (p->planned->routines == ROUTINES_MOVED &&
				      arch_host()->walks_moved));
		}
}

bool valued_guarded(const struct selection *sel)
{
	size_t stand = 0, refused = 0;

	for (size_t i = 0; i < sel->n; i++)
		for (size_t j = 0; j < sel->v[i].nprobes; j++) {
			const struct placed_probe *p = &sel->v[i].probes[j];

			stand += p->guards && !p->refusal;
			refused += p->guards && p->refusal;
		}
	return stand && !refused;
}

uint64_t valued_size(const struct selection *sel)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < sel->nvalued; i++)
		ret += sel->valued[i]->size;
	return ret;
}

/* SPDX-License-Identifier: MIT */
#include "injector/modules/valued.h"

#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "values/hand.h"

/* A place has its own name alone. */
static bool has_name(const struct selected *s, size_t i, const struct hand_spec *spec)
{
	const struct func *f = selected_place(s, i) ? NULL : s->funcs[i];
	const char *names[] = { s->names[i], f ? f->name : NULL, f ? f->raw : NULL };

	for (size_t j = 0; j < ARRAY_SIZE(names); j++)
		if (names[j] && strlen(names[j]) == spec->name &&
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
static int make_plan(const struct read_plan *plan, struct valued *v)
{
	if (!plan->nops)
		return 0;
	v->size = ALIGN_UP(offsetof(struct capture_plan, plan.ops) +
			   plan->nops * sizeof(plan->ops[0]), 8);
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
	return 0;
}

static int read_of(struct selection *sel, const struct signature *s, const struct read_plan *plan,
		   struct placed_probe *probe)
{
	struct valued **at = vec_push(sel->valued, sel->nvalued, sel->valued_cap);
	struct valued *v = at ? *at = calloc(1, sizeof(*v)) : NULL;
	int err = v ? values_pack(s, plan, &v->packed) : -ENOMEM;

	err = err ? err : make_plan(plan, v);
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

static int choose_one(const struct valued_options *o, struct selection *sel,
		      const struct selected *s, size_t i, bool *used)
{
	struct signature signature;
	struct read_plan plan;
	int err = has_room(&s->probes[i]) ? find_signature(o, s, i, used, &signature) : -ENOENT;

	if (err)
		return err == -ENOENT ? 0 : err;
	reads_compile(&signature, &o->compile, &plan);
	/* On a stack that moves another thread may run when the call ends. */
	if (s->probes[i].planned->routines == ROUTINES_MOVED && reads_kept(&plan))
		plan.nops = plan.nentry;
	err = read_of(sel, &signature, &plan, &s->probes[i]);
	signature_clear(&signature);
	return err;
}

int valued_choose(const struct valued_options *o, struct selection *sel)
{
	auto_free bool *used = calloc(o->nspecs + 1, sizeof(*used));
	int err = used ? 0 : -ENOMEM;

	for (size_t i = 0; i < sel->n && !err && valued_any(o); i++)
		for (size_t j = 0; j < sel->v[i].n && !err; j++)
			err = choose_one(o, sel, &sel->v[i], j, used);
	for (size_t i = 0; i < o->nspecs && !err && !o->later; i++)
		if (!used[i])
			err = fail(0, "-A '%s': no function %.*s is probed whose arguments could "
				   "be read", o->specs[i].text, (int)o->specs[i].name,
				   o->specs[i].text);
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

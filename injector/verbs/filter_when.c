/* SPDX-License-Identifier: MIT */
/*
 * filter_when: another condition for functions that stand probed.
 *
 * What is shown of a call (-a) is known to later visits by the plan in the notes, and stays so: a
 * condition that needs more has a plan of its own, with what it needs besides, of which the payload
 * tells nothing, and tells the rest by the numbers of that in the notes (capture_plan.told).
 */
#include "injector/verbs/filter_when.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "injector/log/say.h"
#include "injector/modules/conditioned.h"
#include "injector/modules/modules.h"
#include "injector/ptrace/rseq.h"
#include "plan/plan.h"

struct asking {
	struct visit *visit;
	struct modules mods;
	struct conditions conditions;
	struct plans *plans;
	struct left_out *left;
	size_t asked;		/* functions that have what it asks for */
	bool wants_memory;	/* it asks for what no register has */
};

/* A function that is probed; `func` NULL: it is a place within one, or its file is not known any
 * more. */
struct asked {
	uint32_t id;
	const char *name;
	bool place;
	struct module *module;
	const struct func *func;
};

int filter_sifts(const struct visit *v)
{
	if (v->session.s.counting == COUNT_SIFTED)
		return 0;
	return fail(0, "%d keeps all calls, for it was started without -t and -w, and its probes "
		    "leave none out; stop, and start with -w true, which keeps all until that is "
		    "changed", v->target.pid);
}

int filter_asks(const struct visit *v)
{
	if (v->session.s.plans_funcs)
		return 0;
	return fail(0, "the file that %d records into has no room for a condition; stop, and start "
		    "with -w true, which keeps all until that is changed", v->target.pid);
}

/* No call of it passes. */
static const struct condition never = {
	.nops = 1, .ops = { { .code = CONDITION_CONSTANT, .index = CONDITION_FALSE } },
};

static void leave_out(struct left_out *l, const char *name)
{
	size_t used = strlen(l->names);

	l->n++;
	if (used + strlen(name) + 8 < sizeof(l->names))
		snprintf(l->names + used, sizeof(l->names) - used, "%s%s", used ? ", " : "", name);
	else if (used && used + 6 < sizeof(l->names) && l->names[used - 1] != '.')
		strcpy(l->names + used, ", ...");
}

static bool same_read(const struct read_op *a, const struct read_op *b)
{
	return a->source == b->source && a->flags == b->flags && a->role == b->role &&
		a->param == b->param && a->at == b->at && a->offset == b->offset &&
		a->cap == b->cap && a->type == b->type;
}

/* By which numbers are results told? Those of `shown` keep theirs; what was added stands behind
 * them, at the entry and at the exit. False: some of them had to give way. */
static bool rename_results(const struct read_plan *shown, const struct read_plan *plan,
			   struct capture_plan *ret)
{
	unsigned int more = plan->nentry - shown->nentry;

	if (plan->nentry < shown->nentry ||
	    plan->nops - plan->nentry < shown->nops - shown->nentry)
		return false;
	memset(ret->told, READS_NONE, sizeof(ret->told));
	for (unsigned int i = 0; i < shown->nops; i++) {
		unsigned int to = i < shown->nentry ? i : i + more;

		if (!same_read(&shown->ops[i], &plan->ops[to]))
			return false;
		ret->told[to] = (uint8_t)i;
	}
	ret->renamed = plan->nops != shown->nops;
	return true;
}

/* What is shown of it, by the notes; or else what is known of it by its file. */
static int signature_of(struct asking *a, const struct asked *f, struct signature *ret,
			struct read_plan *shown)
{
	const struct reader_func *known = &a->visit->notes.about.funcs[f->id];

	*shown = (struct read_plan){ .machine = arch_host()->machine };
	if (known->nvalues)
		return values_unpack(known->values, known->nvalues, ret, shown);
	return f->func && !f->place ? module_signature(f->module, f->func, ret) : -ENOENT;
}

static bool reads_memory(const struct read_plan *p)
{
	for (unsigned int i = 0; i < p->nops; i++)
		if (p->ops[i].source == READ_MEMORY)
			return true;
	return false;
}

/* The plan with what the condition reads; -ENOENT: the function does not have that. */
static int compile(struct asking *a, const struct asked *f, const struct signature *signature,
		   const struct read_plan *shown, struct valued *ret)
{
	struct read_plan plan = *shown;
	struct condition c;
	int err = conditioned_compile(&a->conditions, f->name, f->place, signature, &plan, &c);

	if (err)
		return err;
	/* Where no memory may be read for it, what it asks is never known. */
	if (reads_memory(&plan) && !reads_memory(shown) &&
	    a->visit->session.s.reads != READS_BY_CALL) {
		a->wants_memory = true;
		return -ENOENT;
	}
	err = valued_plan(&plan, &c, ret);
	if (!err && !rename_results(shown, &plan, ret->plan)) {
		if (!a->conditions.why[0])
			snprintf(a->conditions.why, sizeof(a->conditions.why),
				 "-w: %.160s: there is no room for what it reads beside what is "
				 "shown; stop, and start with it", f->name);
		err = -ENOENT;
	}
	return err;
}

static struct asked asked_at(struct asking *a, const struct slot *s)
{
	struct asked ret = { .id = s->func, .place = s->kind == SLOT_PLACE,
			     .name = a->visit->notes.about.funcs[s->func].name,
			     .module = modules_at(&a->mods, s->addr) };

	if (ret.module && module_symbols(ret.module) < 0) {
		ret.module = NULL;
		fail_clear();
	}
	if (ret.module)
		ret.func = symbols_func_at(ret.module->symbols, s->addr - ret.module->bias);
	return ret;
}

static int put_one(struct asking *a, const struct asked *f)
{
	struct read_plan shown;
	struct signature signature;
	struct valued v = { 0 };
	bool asks = a->conditions.text[0];
	int err = signature_of(a, f, &signature, &shown);
	bool known = !err;

	if (err && err != -ENOENT)
		return err == -ENOMEM ? fail(ENOMEM, "read what is known of %s", f->name) :
			fail(-err, "read what is known of %s", f->name);
	/* Its registers are not kept for us: see valued.c. */
	bool foreign = f->func && plan_language(f->module->symbols, f->func);

	err = !asks ? valued_plan(&shown, NULL, &v) : foreign ? -ENOENT :
		compile(a, f, known ? &signature : NULL, &shown, &v);
	a->asked += !err;
	if (err == -ENOENT) {
		leave_out(a->left, f->name);
		free(v.plan);
		v = (struct valued){ 0 };
		err = valued_plan(&shown, &never, &v);
	}
	err = err == -ENOMEM ? fail(ENOMEM, "put the condition in") : err;
	err = err ? err : plans_put(a->plans, f->id, &v);
	free(v.plan);
	if (known)
		signature_clear(&signature);
	return err;
}

/* Each function that is probed, by the slot of its entry or place, once. */
static int for_each(struct asking *a, int (*one)(struct asking *, const struct asked *))
{
	const struct session *s = &a->visit->session.s;
	size_t count;
	auto_free bool *probed = visit_probed(a->visit, &count);
	int err = probed ? 0 : fail(ENOMEM, "list functions");

	for (uint32_t i = 0; i < s->nslots && !err; i++) {
		const struct slot *slot = &a->visit->session.slots[i];

		if ((slot->kind != SLOT_ENTRY && slot->kind != SLOT_PLACE) ||
		    (slot->state != SLOT_ACTIVE && slot->state != SLOT_PLANNED) ||
		    slot->func >= a->visit->notes.about.nfuncs || !probed[slot->func])
			continue;
		probed[slot->func] = false;
		struct asked f = asked_at(a, slot);

		err = one(a, &f);
	}
	return err;
}

static int is_paired(struct asking *a, const struct asked *f)
{
	if (!f->func || !plan_language(f->module->symbols, f->func))
		return 0;
	return fail(0, "-D: calls of %s are on stacks that a language's runtime makes, and are paired "
		    "when they are read; give -D to replay or report", f->name);
}

int filter_pairs(struct visit *v)
{
	struct asking a = { .visit = v };
	int err = modules_open_process(v->target.pid, &a.mods);

	err = err ? err : for_each(&a, is_paired);
	modules_close(&a.mods);
	return err;
}

int filter_tell_cpu(const struct visit *v, struct modules *mods, const char *text, bool *tells)
{
	int64_t at = v->session.s.cpu_at;

	if (!arch_host()->tells_cpu && !at && strstr(text, "cpu"))
		at = rseq_place(&v->target, mods);
	*tells = arch_host()->tells_cpu || at;
	return at == v->session.s.cpu_at ? 0 :
		segment_write(&v->segment, offsetof(struct session, cpu_at), &at, sizeof(at));
}

static int no_function(const struct asking *a)
{
	if (a->wants_memory)
		return fail(0, "memory is not read in %d, for it was started without -w and -a, or "
			    "may not be: a condition may ask for what registers have, and for the "
			    "call itself; stop, and start with -w", a->visit->target.pid);
	return fail(0, "%s", a->conditions.why[0] ? a->conditions.why :
		    "-w: no function has what the condition asks for");
}

int when_put(struct visit *v, const char *text, struct plans *plans, struct left_out *left)
{
	struct asking a = { .visit = v, .plans = plans, .left = left,
			    .conditions = { .text = text, .mods = &a.mods, .left = true } };
	int err = modules_open_process(v->target.pid, &a.mods);

	err = err ? err : filter_tell_cpu(v, &a.mods, text, &a.conditions.tells_cpu);
	err = err ? err : for_each(&a, put_one);
	if (!err && text[0] && !a.asked)
		err = no_function(&a);
	modules_close(&a.mods);
	return err;
}

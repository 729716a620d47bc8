/* SPDX-License-Identifier: MIT */
#include "injector/modules/select_plan.h"

#include <errno.h>
#include <stdio.h>

#include "arch/arch.h"
#include "injector/modules/select_silent.h"

struct plan_progress {
	const struct select_options *options;
	const char *base;
};

static void report_plan(void *ctx, size_t done, size_t total)
{
	const struct plan_progress *p = ctx;
	char what[160];

	snprintf(what, sizeof(what), "planning %s", p->base);
	if (p->options->progress)
		p->options->progress(p->options->ctx, what, done, total);
}

/* A program that is linked to one address has no memory below zero. Where one
 * that can be anywhere is loaded, there is memory on all sides. */
static struct range space_of(const struct module *m, const struct arch *arch)
{
	enum { LOWEST = 1 << 16 };

	return m->symbols->is_pie ? (struct range){ 0, 0 } : (struct range){ LOWEST, arch->top };
}

static bool is_unpaired(const struct selected *s, size_t i)
{
	return plan_language(s->module->symbols, s->funcs[i]);
}

bool select_unpaired(const struct selection *sel)
{
	for (size_t i = 0; i < sel->n; i++)
		for (size_t j = 0; j < sel->v[i].n; j++)
			if (is_unpaired(&sel->v[i], j))
				return true;
	return false;
}

/* By function: why it is refused, or its exits are. */
static uint8_t *list_reserved(const struct selected *s, const struct select_options *o)
{
	uint8_t *why = calloc(s->n + s->nsilent + 1, sizeof(*why));

	for (size_t i = 0; why && i < s->n; i++) {
		why[i] = (uint8_t)select_reserved(s->module, s->funcs[i]);
		if (!why[i] && o->timed && o->later && is_unpaired(s, i))
			why[i] = REFUSED_ENTRY_ONLY_ASKED;
	}
	for (size_t i = 0; why && i < s->nsilent; i++)	/* theirs are of no use */
		why[s->n + i] = REFUSED_LEFT_OTHERWISE;
	return why;
}

static void set_silent(const struct selected *s, const struct select_options *o)
{
	for (size_t i = 0; i < s->nprobes; i++) {
		const struct marked_place *place = selected_place(s, i);

		s->probes[i].finds = !place && o->finders && arch_host()->call &&
			silent_finds(s->funcs[i]);
		s->probes[i].silent = i >= s->n;
		s->probes[i].guards = !place && o->guards &&
			silent_guards(s->module->symbols, s->funcs[i]);
		const struct marked_place *next = selected_place(s, i + 1);

		/* By an id of its own it is told where copies begin and end. */
		s->probes[i].shared = place && !place->begins && !place->ends && !place->with &&
			!(next && next->with) &&
			(place->site || place->line || place->inlined);
		s->probes[i].timed = place && (place->begins || place->ends);
		s->probes[i].hidden = place && place->hidden;
		s->probes[i].with = place && place->with;
		s->probes[i].semaphore = place && place->site ? place->site->semaphore : 0;
	}
}

/* By function, as plan_options has it. */
static raddr_t *list_places(const struct selected *s)
{
	raddr_t *ret = calloc(s->n + s->nsilent + 1, sizeof(*ret));

	for (size_t i = 0; ret && i < s->n; i++) {
		const struct marked_place *place = selected_place(s, i);

		ret[i] = !place ? 0 : place->with ? PLAN_ELSEWHERE : place->pc;
	}
	return ret;
}

int select_led_to(const struct modules *modules, const struct selected *s, struct led_to *ret)
{
	int err = 0;

	for (size_t i = 0; i < modules->noutwards && !err; i++)
		err = symbols_led_to(s->module->symbols, modules->outwards[i],
				     &ret->v, &ret->n, &ret->cap);
	return err;
}

int select_plan(struct selected *s, const struct select_options *o, const struct led_to *led)
{
	const struct arch *arch = arch_by_machine(s->module->symbols->machine);

	if (!arch)
		return fail(0, "%s: machine %u is not known to inject",
			    s->module->path, s->module->symbols->machine), -ENOEXEC;
	struct plan_progress p = { .options = o, .base = s->module->base };
	auto_free uint8_t *reserved = list_reserved(s, o);
	auto_free raddr_t *places = list_places(s);
	struct plan_options options = {
		.exit_refusals = reserved,
		.places = places,
		.entry_only = o->entry_only,
		.taken = s->module->symbols->rseqs,
		.ntaken = s->module->symbols->nrseqs,
		.hosts = true,
		.puns = true,
		/* The C library and the loader run with every signal blocked when
		 * they make a thread or a process. */
		.traps = o->traps && !select_is_system(s->module),
		.caught = o->caught,
		.arrivals = led->v,
		.narrivals = led->n,
		.space = space_of(s->module, arch),
		.progress = report_plan,
		.ctx = &p,
	};
	int err;

	if (!reserved || !places)
		return fail(ENOMEM, "plan %s", s->module->base);
	err = plan_make(arch, s->module->symbols, s->funcs, s->n + s->nsilent,
			&options, &s->plan);
	s->probes = err ? NULL : plan_placement(s->plan);
	s->nprobes = s->probes ? s->plan->nprobes : 0;
	if (!err && !s->probes)
		err = fail(ENOMEM, "plan %s", s->module->base);
	if (!err)
		set_silent(s, o);
	for (size_t i = 0; !err && i < s->n; i++)
		if (reserved[i] != REFUSED_NONE && reserved[i] != REFUSED_LEFT_OTHERWISE &&
		    reserved[i] != REFUSED_ENTRY_ONLY_ASKED)
			s->probes[i].refusal = reserved[i];
	for (size_t i = 1; !err && i < s->n; i++)
		if (s->probes[i].with)
			s->probes[i].refusal = s->probes[i - 1].refusal;
	return err;
}

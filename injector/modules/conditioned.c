/* SPDX-License-Identifier: MIT */
#include "injector/modules/conditioned.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "symbols/names/glob.h"
#include "values/condition_compile.h"

static bool is_called(const struct func *f, const char *glob)
{
	return (f->name && glob_match(glob, f->name, strlen(f->name))) ||
		(f->raw && glob_match(glob, f->raw, strlen(f->raw)));
}

static int look_for_callers(const struct modules *mods, const char *glob,
			    struct callers_found *ret)
{
	for (size_t i = 0; i < mods->n; i++) {
		struct module *m = &mods->v[i];

		if (module_symbols(m)) {
			fail_clear();
			continue;
		}
		for (size_t j = 0; j < m->symbols->nfuncs; j++) {
			const struct func *f = &m->symbols->funcs[j];

			if (!is_called(f, glob))
				continue;
			if (ret->n == ARRAY_SIZE(ret->v))
				return -E2BIG;
			ret->v[ret->n++] = (struct condition_range){ m->bias + f->range.start,
								     m->bias + f->range.end };
		}
	}
	return ret->n ? 0 : -ENOENT;
}

/* Where code of functions of this name is, in all modules. */
static int find_callers(void *ctx, const char *glob, struct condition_range *v, size_t room,
			size_t *n)
{
	struct conditions *c = ctx;
	struct callers_found fresh = { 0 }, *found = NULL;

	for (size_t i = 0; i < c->nfound && !found; i++)
		found = strcmp(c->found[i].glob, glob) ? NULL : &c->found[i];
	if (!found) {
		bool fits = strlen(glob) < sizeof(fresh.glob) && c->nfound < ARRAY_SIZE(c->found);

		found = fits ? &c->found[c->nfound++] : &fresh;
		if (fits)
			memcpy(found->glob, glob, strlen(glob) + 1);
		found->err = look_for_callers(c->mods, glob, found);
	}
	*n = 0;
	if (found->err || found->n > room)
		return found->err ? found->err : -E2BIG;
	memcpy(v, found->v, found->n * sizeof(*v));
	*n = found->n;
	return 0;
}

/* What no code in the process can tell, or what that of this one cannot. */
static const char *untold(const struct conditions *all, const struct condition *c)
{
	if (all->entry_only && c->needs & (CONDITION_DURATION | CONDITION_DEPTH))
		return "duration or depth, and with --entry-only it is not known when calls end";
	if (c->needs & CONDITION_COMM && all->left)
		return "comm, which inject tells threads as long as it is there; start leaves";
	if (c->needs & CONDITION_CPU && all->outside)
		return "cpu, which is not recorded, and calls are judged by what is where some "
			"have stacks that a language's runtime makes; probe these apart";
	if (c->needs & CONDITION_CALLER && all->outside && !arch_host()->calls_push)
		return "caller, which is not recorded on this machine, and calls are judged by "
			"what is where some have stacks that a language's runtime makes; probe "
			"these apart";
	if (c->needs & CONDITION_CPU && !all->tells_cpu)
		return "cpu, which neither an instruction of this processor tells nor "
			"the C library";
	return NULL;
}

/* Does it by itself, whatever else is read? */
static bool asks_return(const struct conditions *all, const struct signature *signature,
			const struct condition_names *names)
{
	struct read_plan plan = { .machine = arch_host()->machine };
	struct condition_error error;
	struct condition c;

	return !condition_compile(all->text, signature, &plan, names, &c, &error) &&
		plan.nops > plan.nentry;
}

int conditioned_compile(struct conditions *c, const char *name, bool place,
			const struct signature *signature, struct read_plan *plan,
			struct condition *ret)
{
	/* The call has pushed it. */
	static const struct read_op link = {
		.source = READ_STACK, .role = READ_LENGTH, .length_index = READS_NONE,
		.if_index = READS_NONE, .cap = 8, .unit = 1,
	};
	const struct condition_names names = { find_callers, c, c->outside ? &link : NULL };
	struct condition_error error;
	char lines[512];
	int err = condition_compile(c->text, signature, plan, &names, ret, &error);

	if (!err && untold(c, ret))
		return fail(0, "-w asks for %s", untold(c, ret));
	if (!err && c->entry_only && asks_return(c, signature, &names))
		return fail(0, "-w asks for what a call returns, which --entry-only does not record");
	if (!err && place && ret->needs & CONDITION_CALLER) {
		if (c->tells < WHY_WRONG)
			snprintf(c->why, sizeof(c->why), "-w: %.160s: from where a function was "
				 "called is not known at a place within it", name);
		c->tells = WHY_WRONG;
		return -ENOENT;
	}
	/* What is wrong with every function was found when the options were read. */
	if (err != -ENOENT && err != -ENOSPC && err != -EINVAL)
		return err;
	condition_error_text(c->text, &error, lines, sizeof(lines));
	enum conditions_why tells = !error.unnamed ? WHY_WRONG : signature ? WHY_NO_ARGUMENT :
		WHY_NO_SIGNATURE;

	if (!c->why[0] || tells > c->tells) {
		snprintf(c->why, sizeof(c->why), "-w: %.160s: %s\n%s", name, error.what, lines);
		c->tells = tells;
	}
	return -ENOENT;
}

/* SPDX-License-Identifier: MIT */
/* trace_describe: where does a recording go, and what does it say of itself? */
#include <errno.h>

#include "injector/verbs/trace_impl.h"
#include "trace/output/place.h"

struct probe_cost trace_cost(const struct trace *t)
{
	return t->inf.map.s->tls_offset ? t->cost.local : t->cost.sought;
}

int trace_describe(struct trace *t)
{
	struct about *a = &t->description.about;
	int err = describe(t->pid, &t->mods, &t->description);

	if (err)
		return err;
	t->directory = place_nth(options_directory(t->opt), t->program);
	if (!t->directory)
		return fail(ENOMEM, "name the directory");
	a->funcs = t->live.funcs;
	a->nfuncs = t->live.nfuncs;
	a->cost = trace_cost(t);
	a->begin = reader_now();
	a->filter = options_filter(t->opt);
	return 0;
}

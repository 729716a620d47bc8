/* SPDX-License-Identifier: MIT */
#include "trace/show/values.h"

#include "values/text.h"

void shown_clear(struct shown_values *s)
{
	signatures_clear(&s->signatures);
	*s = (struct shown_values){ 0 };
}

static bool reads_arguments_at_exit(const struct read_plan *p)
{
	for (size_t i = p->nentry; i < p->nops; i++)
		if (p->ops[i].param != READS_RESULT)
			return true;
	return false;
}

void shown_take(struct shown_values *s, const struct call *c)
{
	const struct signed_func *f = signatures_of(&s->signatures, c->func);
	struct capture capture;

	s->args[0] = s->result[0] = '\0';
	if (!f || capture_parse(&f->signature, &f->plan, c->entry, c->nentry, c->exit, c->nexit,
				&capture))
		return;
	if (c->entry || !f->plan.nentry)
		values_args(&capture, s->args, sizeof(s->args));
	if (c->exit)
		values_result(&capture, s->result, sizeof(s->result));
	signatures_clean(s->args);
	signatures_clean(s->result);
}

bool shown_next(struct shown_values *s, const struct call *c, size_t *i, const char **name)
{
	const struct signed_func *f = signatures_of(&s->signatures, c->func);
	struct capture capture;

	if (!f || (!c->entry && f->plan.nentry) ||
	    capture_parse(&f->signature, &f->plan, c->entry, c->nentry, c->exit, c->nexit,
			  &capture))
		return false;
	while (*i < f->signature.nparams && f->signature.params[*i].hidden)
		++*i;
	if (*i >= f->signature.nparams)
		return false;
	*name = signature_name_at(&f->signature, f->signature.params[*i].name);
	values_arg(&capture, *i, s->args, sizeof(s->args));
	signatures_clean(s->args);
	++*i;
	return true;
}

bool shown_changes(struct shown_values *s, const struct reader_func *func)
{
	const struct signed_func *f = signatures_of(&s->signatures, func);

	return f && reads_arguments_at_exit(&f->plan);
}

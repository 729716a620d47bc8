/* SPDX-License-Identifier: MIT */
#include "trace/show/values.h"

#include "values/pack.h"
#include "values/text.h"

struct shown_func {
	const uint8_t *packed;		/* by which it is found */
	bool good;
	bool changes;			/* see shown_changes */
	struct signature *signature;
	struct read_plan *plan;
};

void shown_clear(struct shown_values *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i].good)
			signature_clear(s->v[i].signature);
		free(s->v[i].signature);
		free(s->v[i].plan);
	}
	free(s->v);
	*s = (struct shown_values){ 0 };
}

static bool reads_arguments_at_exit(const struct read_plan *p)
{
	for (size_t i = p->nentry; i < p->nops; i++)
		if (p->ops[i].param != READS_RESULT)
			return true;
	return false;
}

static void shown_read(struct shown_func *f, const struct reader_func *func)
{
	f->signature = malloc(sizeof(*f->signature));
	f->plan = malloc(sizeof(*f->plan));
	f->good = f->signature && f->plan &&
		!values_unpack(func->values, func->nvalues, f->signature, f->plan);
	f->changes = f->good && reads_arguments_at_exit(f->plan);
}

/* They are sorted; NULL: there is none, or no memory. */
static const struct shown_func *shown_find(struct shown_values *s, const struct reader_func *func)
{
	size_t at = vec_prefix(s->n, i, s->v[i].packed < func->values);

	if (!func->values)
		return NULL;
	if (at == s->n || s->v[at].packed != func->values) {
		if (!vec_push(s->v, s->n, s->cap))
			return NULL;
		for (size_t i = s->n - 1; i > at; i--)
			s->v[i] = s->v[i - 1];
		s->v[at] = (struct shown_func){ .packed = func->values };
		shown_read(&s->v[at], func);
	}
	return s->v[at].good ? &s->v[at] : NULL;
}

/* Names come from files that may hold anything. */
static void clean(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

void shown_take(struct shown_values *s, const struct call *c)
{
	const struct shown_func *f = shown_find(s, c->func);
	struct capture capture;

	s->args[0] = s->result[0] = '\0';
	if (!f || capture_parse(f->signature, f->plan, c->entry, c->nentry, c->exit, c->nexit,
				&capture))
		return;
	if (c->entry || !f->plan->nentry)
		values_args(&capture, s->args, sizeof(s->args));
	if (c->exit)
		values_result(&capture, s->result, sizeof(s->result));
	clean(s->args);
	clean(s->result);
}

bool shown_next(struct shown_values *s, const struct call *c, size_t *i, const char **name)
{
	const struct shown_func *f = shown_find(s, c->func);
	struct capture capture;

	if (!f || (!c->entry && f->plan->nentry) ||
	    capture_parse(f->signature, f->plan, c->entry, c->nentry, c->exit, c->nexit, &capture))
		return false;
	while (*i < f->signature->nparams && f->signature->params[*i].hidden)
		++*i;
	if (*i >= f->signature->nparams)
		return false;
	*name = signature_name_at(f->signature, f->signature->params[*i].name);
	values_arg(&capture, *i, s->args, sizeof(s->args));
	clean(s->args);
	++*i;
	return true;
}

bool shown_changes(struct shown_values *s, const struct reader_func *func)
{
	const struct shown_func *f = shown_find(s, func);

	return f && f->changes;
}

/* SPDX-License-Identifier: MIT */
#include "trace/read/signatures.h"

#include "values/pack.h"

void signatures_clear(struct signatures *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i]->good)
			signature_clear(&s->v[i]->signature);
		free(s->v[i]);
	}
	free(s->v);
	*s = (struct signatures){ 0 };
}

const struct signed_func *signatures_of(struct signatures *s, const struct reader_func *func)
{
	size_t at = vec_prefix(s->n, i, s->v[i]->packed < func->values);
	struct signed_func *f;

	if (!func->values)
		return NULL;
	if (at == s->n || s->v[at]->packed != func->values) {
		f = calloc(1, sizeof(*f));
		if (!f || !vec_push(s->v, s->n, s->cap)) {
			free(f);
			return NULL;
		}
		f->packed = func->values;
		f->good = !values_unpack(func->values, func->nvalues, &f->signature, &f->plan);
		for (size_t i = s->n - 1; i > at; i--)
			s->v[i] = s->v[i - 1];
		s->v[at] = f;
	}
	return s->v[at]->good ? s->v[at] : NULL;
}

void signatures_clean(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

/* SPDX-License-Identifier: MIT */
#include "trace/export/uftrace_values.h"

#include <ctype.h>
#include <string.h>

#include "values/number.h"
#include "values/text.h"

enum { TEXT = 200, NUMBER = 8 };

/* How it is told: a signed or unsigned number, one in hexadecimal, a float; or as text. */
static char form_of(const struct signature *s, const struct parameter *p)
{
	const struct type *t = signature_type_at(s, p->type);
	bool known = p->place.kind != PLACE_GONE && p->place.kind != PLACE_UNKNOWN;

	if (!known || !number_is(t) || t->size > NUMBER)
		return 's';
	return t->kind == TYPE_FLOAT ? 'f' : t->flags & TYPE_HEX ? 'x' :
		t->flags & TYPE_SIGNED ? 'd' : 'u';
}

static void say_form(char form, FILE *f)
{
	if (form == 's')
		fputs("/s", f);
	else
		fprintf(f, "/%c64", form);
}

/* Other names would be patterns. */
static bool is_plain(const char *name)
{
	const char *p = name;

	while (isalnum((unsigned char)*p) || *p == '_')
		p++;
	return p > name && !*p;
}

static bool returns(const struct signature *s)
{
	return signature_type_at(s, s->result.type)->kind != TYPE_VOID;
}

static bool has_args(const struct signature *s)
{
	for (size_t i = 0; i < s->nparams; i++)
		if (!s->params[i].hidden)
			return true;
	return false;
}

static void say_args(const struct signature *s, FILE *f)
{
	const char *comma = "";
	size_t n = 0;

	for (size_t i = 0; i < s->nparams; i++) {
		if (s->params[i].hidden)
			continue;
		fprintf(f, "%sarg%zu", comma, ++n);
		say_form(form_of(s, &s->params[i]), f);
		comma = ",";
	}
}

/* The function's, if they can be said of it. */
static const struct signed_func *told(struct signatures *all, const struct reader_func *func,
				      bool result)
{
	const struct signed_func *f = is_plain(func->name) ? signatures_of(all, func) : NULL;

	return f && (result ? returns(&f->signature) : has_args(&f->signature)) ? f : NULL;
}

bool uftrace_specs(struct signatures *all, const struct about *a, bool results, FILE *f)
{
	bool any = false;

	for (size_t i = 0; i < a->nfuncs; i++) {
		const struct signed_func *s = told(all, &a->funcs[i], results);

		if (!s)
			continue;
		fprintf(f, "%s%s@", any ? ";" : results ? "retspec:" : "argspec:", a->funcs[i].name);
		if (results) {
			fputs("retval", f);
			say_form(form_of(&s->signature, &s->signature.result), f);
		} else {
			say_args(&s->signature, f);
		}
		any = true;
	}
	if (any)
		fputc('\n', f);
	return any;
}

/* ---- bytes --------------------------------------------------------------- */

/* uftrace puts quotes around texts. */
static size_t put_text(const struct capture *c, const struct pick *pick, uint8_t *to)
{
	char buf[TEXT + 8], *text = buf, *end;
	uint16_t n;

	values_picked(c, pick, buf, TEXT);
	signatures_clean(buf);
	end = *text == '"' ? strrchr(text + 1, '"') : NULL;
	if (end) {
		text++;
		*end = '\0';
	}
	n = (uint16_t)strlen(text);
	memset(to, 0, ALIGN_UP(sizeof(n) + n, 4));
	memcpy(to, &n, sizeof(n));
	memcpy(to + sizeof(n), text, n);
	return ALIGN_UP(sizeof(n) + n, 4);
}

/* 0: it is not there. */
static size_t put_value(const struct capture *c, size_t param, uint8_t *to)
{
	const struct signature *s = c->signature;
	const struct parameter *p = param == READS_RESULT ? &s->result : &s->params[param];
	const struct pick whole = { .param = (uint8_t)param, .type = p->type };
	struct number number;
	int64_t integer;

	if (form_of(s, p) == 's')
		return put_text(c, &whole, to);
	if (!number_take(c, &whole, &number))
		return 0;
	integer = (int64_t)number.i;
	memcpy(to, number.real ? (const void *)&number.d : &integer, NUMBER);
	return NUMBER;
}

static size_t put_args(const struct capture *c, uint8_t ret[UFTRACE_VALUES])
{
	const struct signature *s = c->signature;
	size_t n = 0;

	for (size_t i = 0; i < s->nparams; i++) {
		size_t size;

		if (s->params[i].hidden)
			continue;
		if (n + TEXT + 16 > UFTRACE_VALUES)
			return 0;
		size = put_value(c, i, ret + n);
		if (!size)
			return 0;
		n += size;
	}
	return n;
}

size_t uftrace_values(struct signatures *all, const struct call *c, bool result,
		      uint8_t ret[UFTRACE_VALUES])
{
	const struct signed_func *f = (result ? c->exit : c->entry) ?
		told(all, c->func, result) : NULL;
	struct capture capture;
	size_t n;

	if (!f || capture_parse(&f->signature, &f->plan, c->entry, c->nentry,
				result ? c->exit : NULL, result ? c->nexit : 0, &capture))
		return 0;
	n = result ? put_value(&capture, READS_RESULT, ret) : put_args(&capture, ret);
	memset(ret + n, 0, ALIGN_UP(n, 8) - n);
	return ALIGN_UP(n, 8);
}

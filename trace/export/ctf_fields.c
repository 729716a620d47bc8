/* SPDX-License-Identifier: MIT */
#include "trace/export/ctf_fields.h"

#include <errno.h>
#include <string.h>

#include "trace/export/ctf_walk.h"
#include "trace/read/signatures.h"
#include "values/text.h"

enum { TEXT = 4096, IDS = LAYOUT_FUNC_MASK + 1 };

/* Of one function. */
struct fielded {
	const struct signed_func *f;
	/* Values for which there are no fields are texts; the last one is the result. */
	bool as_text[PARAMS_MAX + 1];
	bool args, changes, result;	/* there are some at the entry, and at the exit */
	struct capture none;		/* a call of which nothing was read */
	unsigned int said;		/* a bit for each kind of event */
};

struct ctf_fields {
	const struct reader_func *funcs;
	size_t nfuncs;
	struct signatures signatures;
	struct fielded **v;		/* by function; NULL: it has none, or no event yet */
	bool *seen;			/* by function: it had one */
	FILE *out;			/* of `text` */
	char *text;
	size_t ntext;
	int err;
	char buf[TEXT];
};

void ctf_fields_free(struct ctf_fields *c)
{
	if (!c)
		return;
	for (size_t i = 0; c->v && i < c->nfuncs; i++)
		free(c->v[i]);
	signatures_clear(&c->signatures);
	if (c->out)
		fclose(c->out);
	free(c->v);
	free(c->seen);
	free(c->text);
	free(c);
}

int ctf_fields_text(struct ctf_fields *c, const char **ret)
{
	if (fflush(c->out) || ferror(c->out) || c->err)
		return fail(ENOMEM, "describe values");
	*ret = c->text;
	return 0;
}

/* ---- one value ----------------------------------------------------------- */

static const struct parameter *param_at(const struct signature *s, size_t i)
{
	return i == READS_RESULT ? &s->result : &s->params[i];
}

static size_t slot_of(size_t param)
{
	return param == READS_RESULT ? PARAMS_MAX : param;
}

static bool is_known(const struct parameter *p)
{
	return p->place.kind != PLACE_GONE && p->place.kind != PLACE_UNKNOWN;
}

/* A parameter, or READS_RESULT. */
static void walk_param(const struct fielded *f, struct ctf_walk *w, size_t i, char *buf)
{
	const struct parameter *p = param_at(&f->f->signature, i);
	const char *name = i == READS_RESULT ? "ret" : signature_name_at(&f->f->signature, p->name);
	const struct pick whole = { .param = (uint8_t)i, .type = p->type };

	if (!f->as_text[slot_of(i)]) {
		ctf_walk_value(w, p->type, (struct spot){ true, (uint8_t)i, 0 }, name, i);
		return;
	}
	*buf = '\0';
	if (!w->text)
		values_picked(w->c, &whole, buf, TEXT);
	ctf_walk_text(w, buf, name, i);
}

/* Is anything of it read at the exit? */
static bool is_read_at_exit(const struct read_plan *plan, size_t param)
{
	for (size_t i = plan->nentry; i < plan->nops; i++)
		if (plan->ops[i].param == param)
			return true;
	return false;
}

/* What the fields of an entry have, or of an exit. */
static void walk_args(const struct fielded *f, struct ctf_walk *w, char *buf)
{
	const struct signature *s = &f->f->signature;

	ctf_walk_begin(w);
	for (size_t i = 0; i < s->nparams; i++) {
		bool wanted = !s->params[i].hidden &&
			(!w->exit || is_read_at_exit(&f->f->plan, i));

		w->steps = w->text ? 0 : w->steps;
		if (wanted)
			walk_param(f, w, i, buf);
	}
	ctf_walk_end(w, "args", 0);
}

static void walk_exit(const struct fielded *f, struct ctf_walk *w, char *buf)
{
	if (f->changes)
		walk_args(f, w, buf);
	if (f->result)
		walk_param(f, w, READS_RESULT, buf);
}

/* ---- what the metadata say ----------------------------------------------- */

/* Can it be said in fields? Tried, and thrown away. */
static int try_param(struct fielded *f, const struct capture *none, size_t i, bool exit)
{
	auto_free char *text = NULL;
	size_t n;
	struct ctf_walk w = { .c = none, .exit = exit, .text = open_memstream(&text, &n) };
	char buf[TEXT];

	if (!w.text)
		return -ENOMEM;
	walk_param(f, &w, i, buf);
	f->as_text[slot_of(i)] |= w.failed || !is_known(param_at(&f->f->signature, i));
	return fclose(w.text) ? -ENOMEM : 0;
}

static int choose_fields(struct fielded *f, const struct capture *none)
{
	const struct signature *s = &f->f->signature;
	int err = 0;

	for (size_t i = 0; i < s->nparams && !err; i++) {
		if (s->params[i].hidden)
			continue;
		f->args = true;
		f->changes |= is_read_at_exit(&f->f->plan, i);
		err = try_param(f, none, i, false) ?:
		      is_read_at_exit(&f->f->plan, i) ? try_param(f, none, i, true) : 0;
	}
	f->result = signature_type_at(s, s->result.type)->kind != TYPE_VOID;
	return err || !f->result ? err : try_param(f, none, READS_RESULT, true);
}

static void say_event(FILE *out, size_t id, unsigned int kind, const char *name)
{
	fprintf(out, "event {\n\tname = \"%s\";\n\tid = %zu;\n\tstream_id = 0;\n"
		     "\tfields := struct { func_t func; integer { size = 10; align = 1; } words; "
		     "integer { size = 32; align = 1; } reserved; %s",
		name, LAYOUT_TYPED + LAYOUT_TYPED_EACH * id + kind,
		(kind & ~(unsigned int)TYPED_TEXT) == TYPED_BEGUN ? "count_t begin; " : "");
}

/* As the first event of that kind comes. */
static void say_kind(struct ctf_fields *c, struct fielded *f, size_t id, unsigned int kind)
{
	static const char *const names[] = {
		[TYPED_ENTRY] = "entry", [TYPED_EXIT] = "exit", [TYPED_MARK] = "entry_only",
		[TYPED_BEGUN] = "begun",
	};
	unsigned int plain = kind & ~(unsigned int)TYPED_TEXT;
	bool exit = plain == TYPED_EXIT;
	struct ctf_walk w = { .c = &f->none, .exit = exit, .text = c->out };

	if (f->said >> kind & 1)
		return;
	f->said |= 1u << kind;
	say_event(c->out, id, kind, names[plain]);
	if (kind & TYPED_TEXT)
		fprintf(c->out, "string _%s; ", exit ? "ret" : "args");
	else if (exit)
		walk_exit(f, &w, c->buf);
	else
		walk_args(f, &w, c->buf);
	fputs("};\n};\n", c->out);
}

/* Of one function, as its first event comes: 0 or -ENOMEM. */
static int describe(struct ctf_fields *c, size_t id)
{
	const struct signed_func *s = signatures_of(&c->signatures, &c->funcs[id]);
	struct fielded *f = s ? calloc(1, sizeof(*f)) : NULL;

	if (!s)
		return 0;
	if (!f)
		return -ENOMEM;
	c->v[id] = f;
	f->f = s;
	if (capture_parse(&s->signature, &s->plan, NULL, 0, NULL, 0, &f->none))
		return 0;
	return choose_fields(f, &f->none);
}

int ctf_fields_new(const struct reader_func *funcs, size_t nfuncs, struct ctf_fields **ret)
{
	struct ctf_fields *c = calloc(1, sizeof(*c));

	if (!c)
		return fail(ENOMEM, "describe values");
	c->funcs = funcs;
	c->nfuncs = MIN(nfuncs, (size_t)(IDS - LAYOUT_TYPED) / LAYOUT_TYPED_EACH);
	c->v = calloc(c->nfuncs + 1, sizeof(*c->v));
	c->seen = calloc(c->nfuncs + 1, sizeof(*c->seen));
	c->out = open_memstream(&c->text, &c->ntext);
	if (!c->v || !c->seen || !c->out) {
		ctf_fields_free(c);
		return fail(ENOMEM, "describe values");
	}
	*ret = c;
	return 0;
}

/* ---- events -------------------------------------------------------------- */

static bool has_fields(const struct fielded *f, const struct event *e, unsigned int *kind)
{
	switch (e->kind) {
	case EVENT_ENTRY:
		*kind = e->begin ? TYPED_BEGUN : TYPED_ENTRY;
		return f->args;
	case EVENT_MARK:
		*kind = TYPED_MARK;
		return f->args;
	case EVENT_EXIT:
		*kind = TYPED_EXIT;
		return f->result || f->changes;
	}
	return false;
}

/* As text, where a value is not there. */
static void make_text(struct ctf_fields *c, const struct capture *capture, size_t begun,
		      struct ctf_walk *w)
{
	if (w->exit)
		values_result(capture, c->buf, sizeof(c->buf));
	else
		values_args(capture, c->buf, sizeof(c->buf));
	signatures_clean(c->buf);
	w->n = begun;
	w->failed = false;
	ctf_walk_text(w, c->buf, "", 0);
}

static struct fielded *fielded_of(struct ctf_fields *c, uint32_t func)
{
	if (func >= c->nfuncs || c->err)
		return NULL;
	if (!c->seen[func])
		c->err = describe(c, func);
	c->seen[func] = true;
	return c->v[func];
}

bool ctf_fields_make(struct ctf_fields *c, const struct event *e, struct record_fields *ret)
{
	struct fielded *f = e->capture ? fielded_of(c, e->func) : NULL;
	struct capture capture;
	unsigned int kind;

	if (!f || !has_fields(f, e, &kind))
		return false;
	bool exit = kind == TYPED_EXIT;

	if (capture_parse(&f->f->signature, &f->f->plan, exit ? NULL : e->capture,
			  exit ? 0 : e->ncapture, exit ? e->capture : NULL,
			  exit ? e->ncapture : 0, &capture))
		return false;
	struct ctf_walk w = { .c = &capture, .exit = exit, .out = (uint8_t *)ret->words,
			      .size = sizeof(ret->words) };

	if (kind == TYPED_BEGUN) {
		memcpy(w.out, &e->begin, sizeof(e->begin));
		w.n = sizeof(e->begin);
	}
	if (exit)
		walk_exit(f, &w, c->buf);
	else
		walk_args(f, &w, c->buf);
	if (w.failed) {
		make_text(c, &capture, kind == TYPED_BEGUN ? sizeof(e->begin) : 0, &w);
		kind |= TYPED_TEXT;
	}
	say_kind(c, f, e->func, kind);
	memset(w.out + w.n, 0, ALIGN_UP(w.n, 8) - w.n);
	ret->n = (uint32_t)(ALIGN_UP(w.n, 8) / 8);
	ret->spare = (uint32_t)(ALIGN_UP(w.n, 8) - w.n);
	ret->id = LAYOUT_TYPED + LAYOUT_TYPED_EACH * e->func + kind;
	return true;
}

/* SPDX-License-Identifier: MIT */
/* declaration: a function's parameters and result, as a declaration has them. */
#include "values/print.h"
#include "values/text.h"

static const char *plain_name(const struct type *t)
{
	switch (t->kind) {
	case TYPE_VOID:
		return "void";
	case TYPE_BOOL:
		return "bool";
	case TYPE_CHAR:
		return "char";
	case TYPE_ENUM:
		return "enum";
	case TYPE_STRUCT:
		return "struct";
	case TYPE_UNION:
		return "union";
	case TYPE_CODE:
		return "function";
	default:
		return "?";
	}
}

/* Stars stand together, and at the name. */
static bool ends_in_star(const struct line *t)
{
	return t->n && t->n < t->size && (t->p[t->n - 1] == '*' || t->p[t->n - 1] == '&');
}

static void print_type(struct line *t, const struct signature *s, uint32_t type,
		       unsigned int nested)
{
	const struct type *y = signature_type_at(s, type);
	const char *name = signature_name_at(s, y->name);
	bool rust = s->language == LANGUAGE_RUST;

	if (*name) {
		line_add(t, "%s", name);
		return;
	}
	if (nested > NESTED_MAX) {
		line_add(t, "...");
		return;
	}
	switch (y->kind) {
	case TYPE_POINTER:
	case TYPE_REFERENCE:
		if (y->flags & TYPE_TO_CONST)
			line_add(t, "const ");
		print_type(t, s, y->of, nested + 1);
		line_add(t, "%s%c", ends_in_star(t) ? "" : " ", y->kind == TYPE_POINTER ? '*' : '&');
		break;
	case TYPE_ARRAY:
	case TYPE_VECTOR:
		line_add(t, "%s", rust ? "[" : "");
		print_type(t, s, y->of, nested + 1);
		line_add(t, rust ? "; %u]" : "[%u]", y->n);
		break;
	default:
		line_add(t, "%s", plain_name(y));
	}
}

static void print_declared(struct line *t, const struct signature *s, uint32_t type,
			   const char *name)
{
	print_type(t, s, type, 0);
	if (*name)
		line_add(t, "%s%s", ends_in_star(t) ? "" : " ", name);
}

/* C has "char *s", Rust "s: &str", and Go "s string". */
static void print_named(struct line *t, const struct signature *s, uint32_t type,
			const char *name)
{
	if (s->language == LANGUAGE_C || s->language == LANGUAGE_OTHER) {
		print_declared(t, s, type, name);
		return;
	}
	line_add(t, "%s%s", name, !*name ? "" : s->language == LANGUAGE_RUST ? ": " : " ");
	print_type(t, s, type, 0);
}

/* Behind the parameters. Several results of Go are members of one structure. */
static void print_result(struct line *t, const struct signature *s)
{
	const struct type *y = signature_type_at(s, s->result.type);

	line_add(t, s->language == LANGUAGE_RUST ? " -> " : " ");
	if (s->language != LANGUAGE_GO || *signature_name_at(s, y->name) != '(') {
		print_type(t, s, s->result.type, 0);
		return;
	}
	for (uint32_t i = 0; i < y->n; i++) {
		const struct member *m = signature_member_at(s, y, i);

		line_add(t, i ? ", " : "(");
		print_type(t, s, m ? m->type : 0, 0);
	}
	line_add(t, ")");
}

static const char *place_note(const struct parameter *p)
{
	return p->place.kind == PLACE_GONE ? " <optimised out>" :
		p->place.kind == PLACE_UNKNOWN ? " <unknown>" : "";
}

size_t values_declaration(const struct signature *s, const char *name, char *buf, size_t size)
{
	struct line t = { .p = buf, .size = size };
	bool c = s->language == LANGUAGE_C || s->language == LANGUAGE_OTHER;
	const char *comma = "";

	if (size)
		*buf = '\0';
	if (c)
		print_declared(&t, s, s->result.type, name);
	else
		line_add(&t, "%s %s", s->language == LANGUAGE_RUST ? "fn" : "func", name);
	line_add(&t, "(");
	for (size_t i = 0; i < s->nparams; i++) {
		const struct parameter *p = &s->params[i];

		if (p->hidden)
			continue;
		line_add(&t, "%s", comma);
		comma = ", ";
		print_named(&t, s, p->type, signature_name_at(s, p->name));
		line_add(&t, "%s", place_note(p));
	}
	if (s->more || s->variadic)
		line_add(&t, "%s...", comma);
	line_add(&t, ")");
	if (signature_type_at(s, s->result.type)->kind == TYPE_VOID)
		return t.n;
	if (!c)
		print_result(&t, s);
	line_add(&t, "%s", place_note(&s->result));
	return t.n;
}

/* What is read behind a pointer that is a value, or in one. */
size_t values_read(const struct signature *s, const struct read_plan *p, char *buf, size_t size)
{
	struct line t = { .p = buf, .size = size };

	if (size)
		*buf = '\0';
	for (unsigned int i = 0; i < p->nops; i++) {
		const struct read_op *o = &p->ops[i];

		if (o->source != READ_MEMORY || o->role != READ_BEHIND)
			continue;
		line_add(&t, "%s%s: ", t.n ? ", " : "", o->param == READS_RESULT ? "result" :
			 signature_name_at(s, s->params[o->param].name));
		if (o->flags & READ_TEXT)
			line_add(&t, "text");
		else
			line_add(&t, "%u bytes", o->cap);
		if (o->flags & READ_AT_EXIT && o->param != READS_RESULT)
			line_add(&t, " at the return");
	}
	return t.n;
}

/* SPDX-License-Identifier: MIT */
#include "values/text.h"

#include <string.h>

#include "values/print.h"
#include "values/number.h"
#include "values/printing.h"

enum { ELEMENTS_MAX = 8, MEMBERS_SHOWN = 64, ARRAY_SHOWN = 64 };

/* ---- what is behind a pointer -------------------------------------------- */

static void print_text(const struct printing *p, const struct captured *v)
{
	line_quoted(p->t, v->bytes, v->n);
	if (v->status == READ_CUT || v->status == READ_FAILED)
		line_add(p->t, "...");
	if (v->status == READ_FAILED)
		line_add(p->t, " (unreadable)");
}

static bool is_text(const struct type *t)
{
	return t->kind == TYPE_CHAR && t->size == 1;
}

static void print_elements(const struct printing *, uint32_t of, uint64_t n, struct spot, bool more,
			   unsigned int nested);

/* An operation reads behind it. */
static void print_behind(const struct printing *p, uint64_t pointer, uint8_t op,
			 const struct type *type, const char *mark, unsigned int nested)
{
	const struct captured *v = &p->c->v[op];
	const struct read_op *o = &p->c->plan->ops[op];
	uint32_t target = type->of;
	const struct type *t = signature_type_at(p->c->signature, target);
	bool list = o->length_index != READS_NONE && t->kind != TYPE_VOID && t->size && !is_text(t);
	bool text = (is_text(t) && type->kind != TYPE_REFERENCE) || t->kind == TYPE_VOID ||
		o->flags & READ_TEXT || (o->length_index != READS_NONE && !list);

	if (!v->there || v->status == READ_NOT)
		line_add(p->t, "%#llx", (unsigned long long)pointer);
	else if (v->status == READ_FAILED && !(text && v->n))
		line_add(p->t, "%#llx (unreadable)", (unsigned long long)pointer);
	else if (text)
		print_text(p, v);
	else if (list)
		print_elements(p, target, v->n / t->size, (struct spot){ false, op, 0 },
			       v->status == READ_CUT, nested + 1);
	else {
		if (type->flags & TYPE_HEX)
			line_add(p->t, "%#llx", (unsigned long long)pointer);
		line_add(p->t, "%s", mark);
		p->value(p, target, (struct spot){ false, op, 0 }, nested + 1);
	}
}

/* `type` has the pointer at `s`. */
static void print_pointer(const struct printing *p, uint32_t type, struct spot s, const char *mark,
			  unsigned int nested)
{
	static const struct type plain = { .kind = TYPE_POINTER, .size = 8 };
	const struct type *t = signature_type_at(p->c->signature, type);
	uint8_t bytes[SCALAR_MAX] = { 0 }, op = capture_behind(p->c, s, type);
	enum held held = capture_take(p->c, s, 8, bytes);
	uint64_t pointer;

	memcpy(&pointer, bytes, sizeof(pointer));
	if (held != HELD)
		line_missing(p->t, held);
	else if (!pointer || op == READS_NONE)
		print_scalar(p->t, p->c->signature, &plain, bytes);
	else
		print_behind(p, pointer, op, t, mark, nested);
}

/* ---- structures ---------------------------------------------------------- */

static void print_bit_field(const struct printing *p, const struct member *m, struct spot s)
{
	const struct signature *sig = p->c->signature;
	uint8_t bytes[SCALAR_MAX];
	enum held held = take_bit_field(p->c, m, s, bytes);

	if (held == HELD)
		print_scalar(p->t, sig, signature_type_at(sig, m->type), bytes);
	else
		line_missing(p->t, held);
}

static void print_members(const struct printing *p, const struct type *t, struct spot s,
			  unsigned int nested)
{
	const struct signature *sig = p->c->signature;
	bool go = sig->language == LANGUAGE_GO;
	bool tuple = go && *signature_name_at(sig, t->name) == '(';
	const char *comma = "";

	line_add(p->t, tuple ? "(" : "{");
	for (uint32_t i = 0; i < t->n && i < MEMBERS_SHOWN; i++, comma = ", ") {
		const struct member *m = signature_member_at(sig, t, i);
		const char *name = m ? signature_name_at(sig, m->name) : "";

		if (!m)
			break;
		if (m->flags & MEMBER_BASE)
			name = signature_name_at(sig, signature_type_at(sig, m->type)->name);
		if (tuple)
			name = "";
		line_add(p->t, "%s%s%s", comma, name, !*name ? "" : go ? ": " : "=");
		if (m->bits)
			print_bit_field(p, m, spot_beyond(s, m->at));
		else
			p->value(p, m->type, spot_beyond(s, m->at), nested + 1);
	}
	line_add(p->t, "%s%s", t->flags & TYPE_OPAQUE || t->n > MEMBERS_SHOWN ? "..." : "",
		 tuple ? ")" : "}");
}

static void print_elements(const struct printing *p, uint32_t of, uint64_t n, struct spot s,
			   bool more, unsigned int nested)
{
	uint64_t size = signature_type_at(p->c->signature, of)->size;

	line_add(p->t, "[");
	for (uint64_t i = 0; i < n && i < ELEMENTS_MAX; i++) {
		line_add(p->t, "%s", i ? ", " : "");
		p->value(p, of, spot_beyond(s, i * size), nested + 1);
	}
	if (n > ELEMENTS_MAX || more)
		line_add(p->t, "%s...", n ? ", " : "");
	line_add(p->t, "]");
}

/* C's, at the end of a structure: how many there are is not told, also where it says 0. */
static bool is_flexible(const struct printing *p, const struct type *t)
{
	return !t->n && p->c->signature->language == LANGUAGE_C;
}

/* Characters within a structure: up to their NUL. */
static void print_characters(const struct printing *p, const struct type *t, struct spot s)
{
	uint8_t bytes[ARRAY_SHOWN] = { 0 };
	uint32_t n = 0, most = MIN(t->n, (uint32_t)sizeof(bytes));
	enum held held = HELD;

	while (n < most && (held = capture_take(p->c, spot_beyond(s, n), 1, bytes + n)) == HELD &&
	       bytes[n])
		n++;
	if (held != HELD && !n) {
		line_missing(p->t, held);
		return;
	}
	line_quoted(p->t, bytes, n);
	if (held != HELD || (n == most && (n < t->n || is_flexible(p, t))))
		line_add(p->t, "...");
}

static void print_array(const struct printing *p, const struct type *t, struct spot s,
			unsigned int nested)
{
	if (is_text(signature_type_at(p->c->signature, t->of)))
		print_characters(p, t, s);
	else
		print_elements(p, t->of, t->n, s, is_flexible(p, t), nested);
}

static void print_complex(const struct printing *p, const struct type *t, struct spot s)
{
	uint8_t bytes[SCALAR_MAX] = { 0 };
	uint64_t size = t->size / 2;

	for (int i = 0; i < 2; i++) {
		uint32_t n = size == 16 && !(t->flags & TYPE_QUAD) ? X87_SIZE : MIN(size, 16);
		enum held held = capture_take(p->c, spot_beyond(s, i * size), n, bytes);

		if (held != HELD)
			line_missing(p->t, held);
		else
			print_float(p->t, bytes, size, t->flags);
		line_add(p->t, i ? "i" : "+");
	}
}

/* ---- shapes -------------------------------------------------------------- */

static bool take_word(const struct printing *p, struct spot s, uint64_t *ret)
{
	uint8_t bytes[8];
	enum held held = capture_take(p->c, s, sizeof(bytes), bytes);

	memcpy(ret, bytes, sizeof(*ret));
	if (held != HELD)
		line_missing(p->t, held);
	return held == HELD;
}

/* libc++'s short text: its length in the first byte, itself behind that. */
static bool print_short_text(const struct printing *p, const struct type *t, struct spot s)
{
	uint8_t bytes[24];

	if (t->shape != SHAPE_TEXT_LIBCXX ||
	    capture_take(p->c, s, sizeof(bytes), bytes) != HELD || bytes[0] & 1)
		return false;
	line_quoted(p->t, bytes + 1, MIN(bytes[0] >> 1, 23));
	return true;
}

static void print_run(const struct printing *p, uint32_t type, struct spot s, unsigned int nested)
{
	const struct type *t = signature_type_at(p->c->signature, type);
	uint64_t pointer, size = signature_type_at(p->c->signature, t->of)->size;
	uint8_t op = capture_behind(p->c, spot_beyond(s, t->pointer_at), type);
	const struct captured *v = op == READS_NONE ? NULL : &p->c->v[op];
	bool text = t->shape != SHAPE_VECTOR && t->shape != SHAPE_SPAN;

	if (!take_word(p, spot_beyond(s, t->pointer_at), &pointer))
		return;
	if (!pointer)
		line_add(p->t, text ? "\"\"" : "[]");
	else if (!v || !v->there || v->status == READ_NOT || !size)
		line_add(p->t, "%#llx", (unsigned long long)pointer);
	else if (v->status == READ_FAILED)
		line_add(p->t, "%#llx (unreadable)", (unsigned long long)pointer);
	else if (text)
		print_text(p, v);
	else
		print_elements(p, t->of, v->n / size, (struct spot){ false, op, 0 },
			       v->status == READ_CUT, nested);
}

static void print_optional(const struct printing *p, const struct type *t, struct spot s,
			   unsigned int nested)
{
	uint8_t there;
	enum held held = capture_take(p->c, spot_beyond(s, t->length_at), 1, &there);

	if (held != HELD)
		line_missing(p->t, held);
	else if (!there)
		line_add(p->t, "nullopt");
	else
		p->value(p, t->of, spot_beyond(s, t->pointer_at), nested + 1);
}

static void print_shape(const struct printing *p, uint32_t type, struct spot s,
			unsigned int nested)
{
	const struct type *t = signature_type_at(p->c->signature, type);
	bool rust = p->c->signature->language == LANGUAGE_RUST;

	if (t->shape == SHAPE_OPTIONAL)
		print_optional(p, t, s, nested);
	else if (t->shape == SHAPE_INTERFACE)
		go_interface(p, type, s, nested);
	else if (t->shape == SHAPE_INNER)
		p->value(p, t->of, spot_beyond(s, t->pointer_at), nested + 1);
	else if (t->shape == SHAPE_OWNER)
		print_pointer(p, type, spot_beyond(s, t->pointer_at), rust ? "" : "&", nested);
	else if (!print_short_text(p, t, s))
		print_run(p, type, s, nested);
}

/* -------------------------------------------------------------------------- */

static void print_word(const struct printing *p, struct spot s)
{
	uint64_t word;

	if (take_word(p, s, &word))
		line_add(p->t, "%#llx", (unsigned long long)word);
}

static void print_plain(const struct printing *p, const struct type *t, struct spot s)
{
	uint8_t bytes[SCALAR_MAX] = { 0 };
	bool x87 = t->kind == TYPE_FLOAT && t->size == 16 && !(t->flags & TYPE_QUAD);
	enum held held;

	if (!t->size || t->size > SCALAR_MAX || t->kind == TYPE_UNKNOWN || t->kind == TYPE_VOID) {
		line_add(p->t, "?");
		return;
	}
	held = capture_take(p->c, s, x87 ? X87_SIZE : (uint32_t)t->size, bytes);
	if (held == HELD)
		print_scalar(p->t, p->c->signature, t, bytes);
	else
		line_missing(p->t, held);
}

/* "&" is what C has for a pointer's target; Rust has none of it for what is always there. */
static void print_value(const struct printing *p, uint32_t type, struct spot s,
			unsigned int nested)
{
	const struct type *t = signature_type_at(p->c->signature, type);
	bool rust = p->c->signature->language == LANGUAGE_RUST;

	if (nested > 2 * NESTED_MAX || p->t->n > p->t->size) {
		line_add(p->t, "...");
		return;
	}
	if (t->shape) {
		print_shape(p, type, s, nested);
		return;
	}
	switch (t->kind) {
	case TYPE_VARIANTS:
		rust_variants(p, t, s, nested);
		break;
	case TYPE_STRUCT:
	case TYPE_UNION:
		if (rust)
			rust_struct(p, t, "", s, nested);
		else if (type_is_transparent(t))
			print_word(p, s);
		else
			print_members(p, t, s, nested);
		break;
	case TYPE_ARRAY:
		print_array(p, t, s, nested);
		break;
	case TYPE_VECTOR:
		print_elements(p, t->of, t->n, s, false, nested);
		break;
	case TYPE_COMPLEX:
		print_complex(p, t, s);
		break;
	case TYPE_POINTER:
	case TYPE_REFERENCE:
		print_pointer(p, type, s, t->kind == TYPE_REFERENCE ? "" : "&", nested);
		break;
	default:
		print_plain(p, t, s);
	}
}

static void print_param(const struct printing *p, const struct parameter *param, uint8_t index)
{
	const struct spot s = { true, index, 0 };

	switch (param->place.kind) {
	case PLACE_GONE:
		line_add(p->t, "<optimised out>");
		break;
	case PLACE_UNKNOWN:
		line_add(p->t, "<unknown>");
		break;
	default:
		p->value(p, param->type, s, 0);
	}
}

static void print_args(const struct printing *p)
{
	const struct signature *s = p->c->signature;
	const char *comma = "";

	for (size_t i = 0; i < s->nparams; i++) {
		const char *name = signature_name_at(s, s->params[i].name);

		if (s->params[i].hidden)
			continue;
		line_add(p->t, "%s%s%s", comma, name, *name ? "=" : "");
		print_param(p, &s->params[i], i);
		comma = ", ";
	}
	if (s->more || s->variadic)
		line_add(p->t, "%s...", comma);
}

static bool returns_nothing(const struct signature *s)
{
	return signature_type_at(s, s->result.type)->kind == TYPE_VOID;
}

static struct line line_begin(char *buf, size_t size)
{
	if (size)
		*buf = '\0';
	return (struct line){ .p = buf, .size = size };
}

size_t values_args(const struct capture *c, char *buf, size_t size)
{
	struct line t = line_begin(buf, size);

	print_args(&(struct printing){ c, &t, print_value });
	return t.n;
}

size_t values_arg(const struct capture *c, size_t i, char *buf, size_t size)
{
	struct line t = line_begin(buf, size);
	const struct printing p = { c, &t, print_value };

	if (i < c->signature->nparams && !c->signature->params[i].hidden)
		print_param(&p, &c->signature->params[i], (uint8_t)i);
	return t.n;
}

/* Whether it lies anywhere: what was picked of a value may be behind a pointer. */
static void print_picked(const struct printing *p, const struct pick *pick)
{
	struct spot s;
	bool null;
	enum held held = pick_spot(p->c, pick, &s, &null);

	if (held != HELD)
		line_add(p->t, "%s", null ? "(NULL)" : held == HELD_NOT ? "(not read)" :
			 "(unreadable)");
	else if (pick->bits)
		print_bit_field(p, pick->bits, s);
	else
		p->value(p, pick->type, s, 0);
}

size_t values_picked(const struct capture *c, const struct pick *pick, char *buf, size_t size)
{
	struct line t = line_begin(buf, size);
	const struct printing p = { c, &t, print_value };
	const struct parameter *param = pick->param == READS_RESULT ? &c->signature->result :
		&c->signature->params[pick->param];

	if (!pick->nsteps || param->place.kind == PLACE_GONE || param->place.kind == PLACE_UNKNOWN)
		print_param(&p, param, pick->param);
	else
		print_picked(&p, pick);
	return t.n;
}

size_t values_at(const struct capture *c, uint32_t type, struct spot s, char *buf, size_t size)
{
	struct line t = line_begin(buf, size);

	print_value(&(struct printing){ c, &t, print_value }, type, s, 0);
	return t.n;
}

size_t values_result(const struct capture *c, char *buf, size_t size)
{
	struct line t = line_begin(buf, size);
	const struct printing p = { c, &t, print_value };

	if (c->has_exit && !returns_nothing(c->signature))
		print_param(&p, &c->signature->result, READS_RESULT);
	return t.n;
}

size_t values_call(const struct capture *c, const char *name, char *buf, size_t size)
{
	struct line t = line_begin(buf, size);
	const struct printing p = { c, &t, print_value };

	line_add(&t, "%s(", name);
	print_args(&p);
	line_add(&t, ")");
	if (c->has_exit && !returns_nothing(c->signature)) {
		line_add(&t, " = ");
		print_param(&p, &c->signature->result, READS_RESULT);
	}
	return t.n;
}

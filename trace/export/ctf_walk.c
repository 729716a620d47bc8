/* SPDX-License-Identifier: MIT */
#include "trace/export/ctf_walk.h"

#include <ctype.h>
#include <string.h>

#include "values/number.h"
#include "values/text.h"

enum {
	NESTED = 8, MEMBERS = 64, ELEMENTS = 64, ENUMERATORS = 256,
	SAID = 256,		/* fields that are said of one value */
	PUT = 4096,		/* steps that put an event together */
	TEXT = 4096,
};

static void walk(struct ctf_walk *w, uint32_t type, struct spot s, const char *name, size_t index,
		 unsigned int nested);

static bool may_step(struct ctf_walk *w)
{
	w->failed |= ++w->steps > (w->text ? (size_t)SAID : (size_t)PUT);
	return !w->failed;
}

/* ---- names --------------------------------------------------------------- */

static bool is_letter(char c)
{
	return !(c & 0x80) && (isalnum((unsigned char)c) || c == '_');
}

/* Readers leave out the first "_", which keeps names apart from words of the language, and from
 * names of ours, which begin otherwise. What has other characters is told by its number, too. */
static void put_name(const struct ctf_walk *w, const char *name, size_t index, const char *more)
{
	bool good = *name;

	for (const char *p = name; *p; p++)
		good &= is_letter(*p);
	if (!w->text)
		return;
	fputs(good ? "_" : "x_", w->text);
	for (const char *p = name; *p; p++)
		fputc(is_letter(*p) ? *p : '_', w->text);
	if (!good)
		fprintf(w->text, "_%zu", index + 1);
	fputs(more, w->text);
}

static void put_label(const struct ctf_walk *w, const char *label)
{
	fputc('"', w->text);
	for (; *label; label++) {
		if (*label == '"' || *label == '\\')
			fputc('\\', w->text);
		fputc((unsigned char)*label < ' ' || *label == 0x7f ? '?' : *label, w->text);
	}
	fputc('"', w->text);
}

/* ---- bytes --------------------------------------------------------------- */

static void put(struct ctf_walk *w, const void *bytes, size_t n)
{
	if (w->failed || n > w->size - w->n) {
		w->failed = true;
		return;
	}
	memcpy(w->out + w->n, bytes, n);
	w->n += n;
}

static void put_scalar(struct ctf_walk *w, const struct type *t, const struct member *bits,
		       struct spot s)
{
	uint8_t bytes[SCALAR_MAX];
	enum held held = bits ? take_bit_field(w->c, bits, s, bytes) :
		take_scalar(w->c, t, s, bytes);

	w->failed |= held != HELD;
	if (t->kind == TYPE_FLOAT && t->size != 4 && t->size != 8) {
		double d = held == HELD ? float_value(bytes, t->size, t->flags) : 0;

		put(w, &d, sizeof(d));
		return;
	}
	put(w, bytes, t->size);
}

/* ---- scalars ------------------------------------------------------------- */

static bool is_size(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static void say_enumerators(struct ctf_walk *w, const struct type *t)
{
	const struct signature *sig = w->c->signature;

	if (t->kind == TYPE_BOOL) {
		fputs("\"false\" = 0, \"true\" = 1", w->text);
		return;
	}
	for (uint32_t i = 0; i < t->n; i++) {
		const struct enumerator *e = signature_enumerator_at(sig, t, i);

		if (!e)
			continue;
		fputs(i ? ", " : "", w->text);
		put_label(w, signature_name_at(sig, e->name));
		/* As it is in so many bytes. */
		uint8_t bytes[SCALAR_MAX] = { 0 };

		memcpy(bytes, &e->value, sizeof(e->value));
		if (t->flags & TYPE_SIGNED)
			fprintf(w->text, " = %lld", (long long)number_of(t, bytes));
		else
			fprintf(w->text, " = %llu", (unsigned long long)number_of(t, bytes));
	}
}

static void say_scalar(struct ctf_walk *w, const struct type *t)
{
	bool hex = t->flags & TYPE_HEX || t->kind == TYPE_POINTER || t->kind == TYPE_REFERENCE ||
		t->kind == TYPE_CODE;

	if (t->kind == TYPE_FLOAT) {
		fprintf(w->text, "floating_point { exp_dig = %d; mant_dig = %d; align = 8; } ",
			t->size == 4 ? 8 : 11, t->size == 4 ? 24 : 53);
		return;
	}
	if (t->kind == TYPE_ENUM || t->kind == TYPE_BOOL)
		fputs("enum : ", w->text);
	fprintf(w->text, "integer { size = %d; align = 8; signed = %s;%s } ", (int)t->size * 8,
		t->flags & TYPE_SIGNED ? "true" : "false", hex ? " base = hex;" : "");
	if (t->kind == TYPE_ENUM || t->kind == TYPE_BOOL) {
		fputs("{ ", w->text);
		say_enumerators(w, t);
		fputs(" } ", w->text);
	}
}

static void walk_scalar(struct ctf_walk *w, const struct type *t, const struct member *bits,
			struct spot s, const char *name, size_t index)
{
	if (!w->text) {
		put_scalar(w, t, bits, s);
		return;
	}
	say_scalar(w, t);
	put_name(w, name, index, "; ");
}

/* Has it enumerators, or is it just a number? An enumeration without labels is none. */
static bool is_enum(const struct ctf_walk *w, const struct type *t)
{
	bool any = t->n && t->n <= ENUMERATORS && signature_enumerator_at(w->c->signature, t, 0);

	for (uint32_t i = 0; any && i < t->n; i++)
		any = signature_enumerator_at(w->c->signature, t, i);
	return any;
}

static bool is_scalar(const struct ctf_walk *w, const struct type *t)
{
	switch (t->kind) {
	case TYPE_INT: case TYPE_BOOL: case TYPE_CODE:
		return is_size(t->size);
	case TYPE_ENUM:
		return is_size(t->size) && is_enum(w, t);
	case TYPE_FLOAT:
		return t->size == 2 || t->size == 4 || t->size == 8 || t->size == 16;
	}
	return false;
}

/* ---- text ---------------------------------------------------------------- */

void ctf_walk_text(struct ctf_walk *w, const char *text, const char *name, size_t index)
{
	if (!w->text) {
		put(w, text, strlen(text) + 1);
		return;
	}
	fputs("string ", w->text);
	put_name(w, name, index, "; ");
}

/* "GET\n"... without its quotes, which readers of a string add: in place. */
static const char *unquoted(char *text)
{
	char *to = text, *end = strrchr(text, '"');

	if (*text != '"' || end == text)
		return text;
	for (char *p = text + 1; p < end; p++) {
		p += *p == '\\' && (p[1] == '"' || p[1] == '\\');
		*to++ = *p;
	}
	*to = '\0';
	return text;
}

/* What is behind a pointer that was read at the entry, of which the exit's event knows nothing. */
static void text_behind(const struct captured *v, char *buf, size_t size)
{
	struct line t = { .p = buf, .size = size };

	*buf = '\0';
	if (v->there && (v->n || v->status == READ_DONE || v->status == READ_CUT))
		line_quoted(&t, v->bytes, v->n);
	else
		line_add(&t, v->there && v->status == READ_FAILED ? "(unreadable)" : "(not read)");
}

static void walk_text(struct ctf_walk *w, uint32_t type, struct spot s, uint8_t op,
		      const char *name, size_t index)
{
	char text[TEXT] = "";

	if (!w->text && w->exit && op != READS_NONE)
		text_behind(&w->c->v[op], text, sizeof(text));
	else if (!w->text)
		values_at(w->c, type, s, text, sizeof(text));
	ctf_walk_text(w, unquoted(text), name, index);
}

/* ---- what is made of others ---------------------------------------------- */

void ctf_walk_begin(struct ctf_walk *w)
{
	if (w->text)
		fputs("struct { ", w->text);
}

void ctf_walk_end(struct ctf_walk *w, const char *name, size_t index)
{
	if (!w->text)
		return;
	fputs("} ", w->text);
	put_name(w, name, index, "; ");
}

static void walk_members(struct ctf_walk *w, const struct type *t, struct spot s,
			 unsigned int nested)
{
	const struct signature *sig = w->c->signature;

	for (uint32_t i = 0; i < t->n && may_step(w); i++) {
		const struct member *m = signature_member_at(sig, t, i);
		const struct type *of = m ? signature_type_at(sig, m->type) : NULL;
		const char *name = m ? signature_name_at(sig, m->name) : "";

		if (!m)
			w->failed = true;
		else if (m->bits && is_scalar(w, of))
			walk_scalar(w, of, m, (struct spot){ s.own, s.of, s.at + m->at }, name, i);
		else if (m->bits)
			w->failed = true;
		else
			walk(w, m->type, (struct spot){ s.own, s.of, s.at + m->at },
			     m->flags & MEMBER_BASE ? signature_name_at(sig, of->name) : name, i,
			     nested + 1);
	}
}

/* `n` of a type, one behind the other. Its name stands behind what one of them is. */
static void walk_elements(struct ctf_walk *w, uint32_t of, size_t n, struct spot s,
			  unsigned int nested)
{
	uint64_t size = signature_type_at(w->c->signature, of)->size;

	for (size_t i = 0; i < n && may_step(w); i++)
		walk(w, of, (struct spot){ s.own, s.of, s.at + (uint32_t)(i * size) }, NULL, i,
		     nested + 1);
}

/* How many elements behind a pointer were read. */
static uint32_t count_read(struct ctf_walk *w, const struct captured *v, uint64_t size, bool one)
{
	if (!v->there || v->status == READ_NOT)
		return 0;
	/* What is missing is told as text. */
	if (v->status == READ_FAILED || v->n < size) {
		w->failed |= v->status == READ_FAILED || v->n || one;
		return 0;
	}
	return one ? 1 : (uint32_t)MIN(v->n / size, (uint64_t)ELEMENTS);
}

/* As many as were read behind a pointer: one, or the elements of a vector. */
static void walk_run(struct ctf_walk *w, uint32_t of, uint8_t op, bool one, const char *name,
		     size_t index, unsigned int nested)
{
	uint64_t size = MAX(signature_type_at(w->c->signature, of)->size, 1u);
	const struct spot s = { false, op, 0 };

	if (!w->text) {
		uint32_t n = count_read(w, &w->c->v[op], size, one);

		put(w, &n, sizeof(n));
		walk_elements(w, of, n, s, nested);
		return;
	}
	fputs("integer { size = 32; align = 8; } n", w->text);
	put_name(w, name, index, "; ");
	walk(w, of, s, NULL, index, nested + 1);
	put_name(w, name, index, "[n");
	put_name(w, name, index, "]; ");
}

static void walk_array(struct ctf_walk *w, const struct type *t, struct spot s, const char *name,
		       size_t index, unsigned int nested)
{
	if (!w->text) {
		walk_elements(w, t->of, t->n, s, nested);
		return;
	}
	walk(w, t->of, s, NULL, index, nested + 1);
	put_name(w, name, index, "[");
	fprintf(w->text, "%u]; ", t->n);
}

/* ---- which form ---------------------------------------------------------- */

static bool is_text(const struct ctf_walk *w, const struct type *t, uint8_t op)
{
	const struct read_op *o = &w->c->plan->ops[op];

	return (t->kind == TYPE_CHAR && t->size == 1) || t->kind == TYPE_VOID || !t->size ||
		o->flags & READ_TEXT || o->length_index != READS_NONE;
}

static bool is_vector(const struct type *t)
{
	return t->shape == SHAPE_SPAN || t->shape == SHAPE_VECTOR;
}

static void walk_vector(struct ctf_walk *w, uint32_t type, const struct type *t, struct spot s,
			const char *name, size_t index, unsigned int nested)
{
	uint8_t op = capture_reads(w->c, (struct spot){ s.own, s.of, s.at + t->pointer_at }, type,
				   w->exit);

	if (op == READS_NONE || !signature_type_at(w->c->signature, t->of)->size)
		walk_text(w, type, s, READS_NONE, name, index);
	else
		walk_run(w, t->of, op, false, name, index, nested);
}

/* One that is passed by a pointer: told as if it were not. */
static void walk_vector_behind(struct ctf_walk *w, uint32_t type, uint8_t op, const char *name,
			       size_t index, unsigned int nested)
{
	const struct captured *v = &w->c->v[op];

	w->failed |= !w->text && (!v->there || v->status != READ_DONE);
	walk_vector(w, type, signature_type_at(w->c->signature, type),
		    (struct spot){ false, op, 0 }, name, index, nested + 1);
}

static void walk_pointer(struct ctf_walk *w, uint32_t type, const struct type *t, struct spot s,
			 const char *name, size_t index, unsigned int nested)
{
	static const struct type address = { .kind = TYPE_POINTER, .size = 8 };
	const struct type *to = signature_type_at(w->c->signature, t->of);
	uint8_t op = capture_reads(w->c, s, type, w->exit);

	if (op == READS_NONE)
		walk_scalar(w, &address, NULL, s, name, index);
	else if (is_vector(to) && nested < NESTED)
		walk_vector_behind(w, t->of, op, name, index, nested);
	else if (to->shape)
		walk_text(w, type, s, READS_NONE, name, index);
	else if (is_text(w, to, op))
		walk_text(w, type, s, op, name, index);
	else
		walk_run(w, t->of, op, true, name, index, nested);
}

static bool is_array(const struct ctf_walk *w, const struct type *t)
{
	const struct type *of = signature_type_at(w->c->signature, t->of);

	return (t->kind == TYPE_ARRAY || t->kind == TYPE_VECTOR) && t->n && t->n <= ELEMENTS &&
		of->size && !(of->kind == TYPE_CHAR && of->size == 1);
}

/* `name` NULL: it is an element, whose name and number stand behind it; arrays of arrays, and of
 * what has a number of its own, are told as text. */
static void walk(struct ctf_walk *w, uint32_t type, struct spot s, const char *name, size_t index,
		 unsigned int nested)
{
	const struct type *t = signature_type_at(w->c->signature, type);

	if (!may_step(w))
		return;
	if (!t->shape && is_scalar(w, t)) {
		if (w->text && !name)
			say_scalar(w, t);
		else
			walk_scalar(w, t, NULL, s, name ? name : "", index);
	} else if (!t->shape && t->kind == TYPE_STRUCT && t->n && t->n <= MEMBERS &&
		   !(t->flags & TYPE_OPAQUE) && nested < NESTED) {
		ctf_walk_begin(w);
		walk_members(w, t, s, nested);
		if (name)
			ctf_walk_end(w, name, index);
		else if (w->text)
			fputs("} ", w->text);
	} else if (!name) {
		if (w->text)
			fputs("string ", w->text);
		else
			walk_text(w, type, s, READS_NONE, "", index);
	} else if (!t->shape && (t->kind == TYPE_POINTER || t->kind == TYPE_REFERENCE)) {
		walk_pointer(w, type, t, s, name, index, nested);
	} else if (is_vector(t) && nested < NESTED) {
		walk_vector(w, type, t, s, name, index, nested);
	} else if (!t->shape && is_array(w, t) && nested < NESTED) {
		walk_array(w, t, s, name, index, nested);
	} else {
		walk_text(w, type, s, READS_NONE, name, index);
	}
}

void ctf_walk_value(struct ctf_walk *w, uint32_t type, struct spot s, const char *name,
		    size_t index)
{
	walk(w, type, s, name, index, 0);
}

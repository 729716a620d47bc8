/* SPDX-License-Identifier: MIT */
/*
 * text_go: interfaces, by what compile_go.c has had read. Nothing of that is believed: a type is
 * named only if its description lies where they all do, and the name is one.
 */
#include <string.h>

#include "values/go_types.h"
#include "values/printing.h"

/* What the operations have brought; READS_NONE: there is none. */
struct interface {
	uint8_t description, base, name, value, text;
};

/* The first operation behind that one that reads what its result leads to. */
static uint8_t next(const struct capture *c, uint8_t op, uint8_t source)
{
	for (unsigned int i = op + 1u; op != READS_NONE && i < c->plan->nops; i++) {
		const struct read_op *o = &c->plan->ops[i];

		if (o->source == source && o->role == READ_LENGTH &&
		    (source == READ_SUM ? o->length_index : o->index) == op)
			return (uint8_t)i;
	}
	return READS_NONE;
}

static bool has(const struct capture *c, uint8_t op, unsigned int n)
{
	return op != READS_NONE && c->v[op].there && c->v[op].n >= n;
}

static uint64_t word(const struct capture *c, uint8_t op)
{
	uint64_t ret;

	memcpy(&ret, c->v[op].bytes, sizeof(ret));
	return ret;
}

/* The address of the description, as it was read or stands in the interface itself. */
static bool find_type(const struct printing *p, uint32_t type, struct spot tab,
		      struct interface *in, uint64_t *ret)
{
	uint8_t bytes[8], first = capture_behind(p->c, tab, type);

	if (first == READS_NONE)
		return false;
	in->description = first;
	if (p->c->plan->ops[first].cap == 8) {
		in->description = next(p->c, first, READ_MEMORY);
		if (!has(p->c, first, 8))
			return false;
		*ret = word(p->c, first);
		return true;
	}
	if (capture_take(p->c, tab, sizeof(bytes), bytes) != HELD)
		return false;
	memcpy(ret, bytes, sizeof(*ret));
	return true;
}

static bool find_all(const struct printing *p, uint32_t type, struct spot s, struct interface *in)
{
	const struct type *t = signature_type_at(p->c->signature, type);
	const struct read_plan *plan = p->c->plan;
	uint64_t at;

	if (!find_type(p, type, spot_beyond(s, t->length_at), in, &at) ||
	    !has(p->c, in->description, GO_TYPE_SIZE))
		return false;
	uint8_t sum = next(p->c, in->description, READ_SUM);

	in->name = next(p->c, sum, READ_MEMORY);
	if (in->name == READS_NONE)
		return false;
	in->base = plan->ops[sum].index;
	in->value = capture_behind(p->c, spot_beyond(s, t->pointer_at), type);
	in->text = next(p->c, in->value, READ_MEMORY);
	return has(p->c, in->base, 8) && has(p->c, in->base + 1, 8) &&
		at >= word(p->c, in->base) && at < word(p->c, in->base + 1);
}

struct name {
	const char *p;
	size_t n;
	bool cut;
};

/* (A name of other letters may be cut within one.) */
static bool is_printable(const struct name *n)
{
	for (size_t i = 0; i < n->n; i++)
		if ((unsigned char)n->p[i] < ' ' || (unsigned char)n->p[i] >= 0x7f)
			return false;
	return n->n;
}

static bool find_name(const struct capture *c, const struct interface *in, struct name *ret)
{
	const struct captured *v = &c->v[in->name];
	size_t head = v->n > 1 && v->bytes[1] & 0x80 ? 3 : 2, length;

	if (!v->there || v->n <= head)
		return false;
	length = v->bytes[1] & 0x7f;
	if (head == 3)
		length |= (size_t)(v->bytes[2] & 0x7f) << 7;
	*ret = (struct name){ (const char *)v->bytes + head, MIN(length, v->n - head),
			      length > v->n - head };
	if (c->v[in->description].bytes[GO_FLAGS] & GO_FLAG_STAR && ret->n && *ret->p == '*') {
		ret->p++;
		ret->n--;
	}
	return is_printable(ret);
}

static bool is(const struct name *n, const char *what)
{
	return n->n == strlen(what) && !memcmp(n->p, what, n->n);
}

/* Those of the library whose text is the first that they have. */
static bool is_told_error(const struct name *n)
{
	return is(n, "*errors.errorString") || is(n, "*fmt.wrapError") || is(n, "*fmt.wrapErrors");
}

static bool print_text(const struct printing *p, const struct interface *in)
{
	const struct capture *c = p->c;
	const struct captured *v = in->text == READS_NONE ? NULL : &c->v[in->text];
	uint64_t length;

	if (!v || !has(c, in->value, 16))
		return false;
	memcpy(&length, c->v[in->value].bytes + 8, sizeof(length));
	if (length && (!v->there || v->status == READ_NOT || v->status == READ_FAILED))
		return false;
	line_quoted(p->t, v->bytes, length ? v->n : 0);
	line_add(p->t, "%s", length && v->status == READ_CUT ? "..." : "");
	return true;
}

/* A number of that kind, as it begins there; false: it is none, or was not read. */
static bool print_number(const struct printing *p, const struct interface *in, unsigned int kind)
{
	static const uint8_t sizes[] = { 8, 1, 2, 4, 8 };
	struct type t = { .kind = TYPE_INT, .size = 8 };
	uint8_t bytes[SCALAR_MAX] = { 0 };

	if (kind >= GO_INT && kind <= GO_INT64) {
		t.flags = TYPE_SIGNED;
		t.size = sizes[kind - GO_INT];
	} else if (kind >= GO_UINT && kind < GO_UINTPTR) {
		t.size = sizes[kind - GO_UINT];
	} else if (kind == GO_FLOAT32 || kind == GO_FLOAT64) {
		t.kind = TYPE_FLOAT;
		t.size = kind == GO_FLOAT32 ? 4 : 8;
	} else if (kind == GO_BOOL) {
		t.kind = TYPE_BOOL;
		t.size = 1;
	} else if (kind != GO_UINTPTR) {
		return false;
	}
	if (!has(p->c, in->value, (unsigned int)t.size))
		return false;
	memcpy(bytes, p->c->v[in->value].bytes, t.size);
	print_scalar(p->t, p->c->signature, &t, bytes);
	return true;
}

static bool print_known(const struct printing *p, const struct interface *in,
			const struct name *name)
{
	unsigned int kind = p->c->v[in->description].bytes[GO_KIND] & GO_KIND_MASK;

	if (kind == GO_STRING || (kind == GO_POINTER && is_told_error(name)))
		return print_text(p, in);
	return print_number(p, in, kind);
}

void go_interface(const struct printing *p, uint32_t type, struct spot s, unsigned int nested)
{
	const struct type *t = signature_type_at(p->c->signature, type);
	struct spot data = spot_beyond(s, t->pointer_at);
	struct interface in;
	struct name name;

	if (!find_all(p, type, s, &in) || !find_name(p->c, &in, &name)) {
		p->value(p, t->of, data, nested + 1);
		return;
	}
	line_add(p->t, "%.*s%s(", (int)name.n, name.p, name.cut ? "..." : "");
	if (!print_known(p, &in, &name))
		p->value(p, t->of, data, nested + 1);
	line_add(p->t, ")");
}

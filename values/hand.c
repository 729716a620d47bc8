/* SPDX-License-Identifier: MIT */
#include "values/hand.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "values/places.h"

enum {
	NAME_MAX_LENGTH = 64,
	NUMBER_MAX = 4096,
	STRUCT_MAX = 64,	/* bytes: no more is read behind a pointer (compile.c) */
};

struct word {
	const char *p;
	size_t n;
};

/* A length that is a name: what it is of may follow. */
struct pending {
	struct word name;
	uint8_t param;		/* that has the contents; PARAMS_MAX: the result */
};

struct hand {
	const char *text, *at, *end;
	struct signature *s;
	struct hand_error *error;
	struct pending pending[PARAMS_MAX + 1];
	size_t npending;
	bool has_result;
};

static int wrong(struct hand *h, const char *at, const char *what)
{
	*h->error = (struct hand_error){ (size_t)(at - h->text), what };
	return -EINVAL;
}

/* ---- words --------------------------------------------------------------- */

static void skip_space(struct hand *h)
{
	while (h->at < h->end && (*h->at == ' ' || *h->at == '\t'))
		h->at++;
}

static bool take_char(struct hand *h, char c)
{
	skip_space(h);
	if (h->at == h->end || *h->at != c)
		return false;
	h->at++;
	return true;
}

static struct word take_word(struct hand *h)
{
	skip_space(h);
	struct word w = { h->at, 0 };

	while (h->at < h->end && (isalnum((unsigned char)*h->at) || *h->at == '_'))
		h->at++;
	w.n = (size_t)(h->at - w.p);
	return w;
}

static bool word_is(struct word w, const char *text)
{
	return strlen(text) == w.n && !memcmp(w.p, text, w.n);
}

/* Behind `from` characters it is a number, up to a limit. */
static bool word_number(struct word w, size_t from, uint32_t *ret)
{
	*ret = 0;
	for (size_t i = from; i < w.n; i++) {
		if (!isdigit((unsigned char)w.p[i]))
			return false;
		*ret = *ret * 10 + (uint32_t)(w.p[i] - '0');
		if (*ret > NUMBER_MAX)
			return false;
	}
	return w.n > from;
}

static uint32_t add_name(struct hand *h, struct word w)
{
	char text[NAME_MAX_LENGTH];
	size_t n = MIN(w.n, sizeof(text) - 1);

	memcpy(text, w.p, n);
	text[n] = '\0';
	return signature_text(h->s, text);
}

/* ---- types --------------------------------------------------------------- */

static const struct plain {
	const char *name;
	struct type type;
} plain[] = {
	{ "int", { .kind = TYPE_INT, .flags = TYPE_SIGNED, .size = 4 } },
	{ "uint", { .kind = TYPE_INT, .size = 4 } },
	{ "long", { .kind = TYPE_INT, .flags = TYPE_SIGNED, .size = 8 } },
	{ "ulong", { .kind = TYPE_INT, .size = 8 } },
	{ "bool", { .kind = TYPE_BOOL, .size = 1 } },
	{ "char", { .kind = TYPE_CHAR, .size = 1 } },
	{ "f32", { .kind = TYPE_FLOAT, .size = 4 } },
	{ "float", { .kind = TYPE_FLOAT, .size = 4 } },
	{ "f64", { .kind = TYPE_FLOAT, .size = 8 } },
	{ "double", { .kind = TYPE_FLOAT, .size = 8 } },
	{ "f80", { .kind = TYPE_FLOAT, .size = 16 } },
	{ "ptr", { .kind = TYPE_POINTER, .size = 8 } },
	{ "addr", { .kind = TYPE_POINTER, .flags = TYPE_HEX, .size = 8 } },
	{ "str", { .kind = TYPE_POINTER, .size = 8 } },
	{ "outstr", { .kind = TYPE_POINTER, .size = 8 } },
	{ "buf", { .kind = TYPE_POINTER, .size = 8 } },
	{ "out", { .kind = TYPE_POINTER, .size = 8 } },
	{ "list", { .kind = TYPE_POINTER, .size = 8 } },
	{ "void", { .kind = TYPE_VOID } },
};

/* i32 and its like */
static bool integer_type(struct word w, struct type *ret)
{
	uint32_t bits;

	if (!w.n || !strchr("iuxo", *w.p) || !word_number(w, 1, &bits) ||
	    (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 128))
		return false;
	*ret = (struct type){
		.kind = TYPE_INT, .size = bits / 8,
		.flags = *w.p == 'i' ? TYPE_SIGNED : *w.p == 'x' ? TYPE_HEX :
			*w.p == 'o' ? TYPE_OCTAL : 0,
	};
	return true;
}

/* Those of C have their names there; a pointer has that of what it points to. */
static void name_plain(struct hand *h, struct word w, struct type *t)
{
	if (t->kind == TYPE_POINTER && (word_is(w, "str") || word_is(w, "outstr")))
		t->of = signature_type(h->s, &(struct type){ .kind = TYPE_CHAR, .size = 1 });
	else if (t->kind != TYPE_POINTER && t->kind != TYPE_VOID)
		t->name = add_name(h, w);
}

static bool find_type(struct hand *h, struct word w, struct type *ret)
{
	const struct convention *c = convention_of(h->s->machine);
	bool extended = !c || c->extended;

	if (integer_type(w, ret)) {
		ret->name = add_name(h, w);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (word_is(w, plain[i].name)) {
			*ret = plain[i].type;
			if (ret->size == 16 && !extended)
				ret->flags |= TYPE_QUAD;
			name_plain(h, w, ret);
			return true;
		}
	return false;
}

/* ---- lengths ------------------------------------------------------------- */

static int take_length(struct hand *h, uint8_t param, struct contents *c)
{
	bool pointed = take_char(h, '*');
	struct word w = take_word(h);
	uint32_t number;

	if (!w.n)
		return wrong(h, h->at, "a length is a number, a name, ret, or *NAME");
	if (!pointed && isdigit((unsigned char)*w.p)) {
		if (!word_number(w, 0, &number) || !number)
			return wrong(h, w.p, "a length is from 1 to 4096");
		c->length = number;
		return 0;
	}
	h->pending[h->npending++] = (struct pending){ w, param };
	c->from = pointed ? LENGTH_POINTED : word_is(w, "ret") ? LENGTH_RESULT : LENGTH_PARAM;
	c->length_size = 8;
	if (pointed && take_char(h, '/')) {
		w = take_word(h);
		if (!word_number(w, 0, &number) || (number != 4 && number != 8))
			return wrong(h, w.p, "a length behind a pointer has 4 or 8 bytes");
		c->length_size = (uint8_t)number;
	}
	return 0;
}

static int take_contents(struct hand *h, struct word type, uint8_t param, struct contents *c)
{
	bool text = word_is(type, "str") || word_is(type, "outstr");
	bool bytes = word_is(type, "buf") || word_is(type, "out");
	int err = 0;

	c->behind = text ? BEHIND_TEXT : bytes ? BEHIND_BYTES : BEHIND_NOTHING;
	c->out = *type.p == 'o' && (text || bytes);
	if (!text && !bytes)
		return 0;
	if (take_char(h, '(')) {
		err = take_length(h, param, c);
		if (!err && !take_char(h, ')'))
			err = wrong(h, h->at, "a ) closes a length");
	} else if (bytes) {
		err = wrong(h, h->at, "bytes have a length: (LENGTH)");
	}
	return err;
}

/* ---- structures and lists ------------------------------------------------ */

static int take_inner(struct hand *h, unsigned int nested, struct type *ret);

/* chars(N) */
static int take_chars(struct hand *h, const char *at, struct type *ret)
{
	uint32_t n = 0;

	if (!take_char(h, '(') || !word_number(take_word(h), 0, &n) || !n || !take_char(h, ')'))
		return wrong(h, at, "chars has a number: (N)");
	*ret = (struct type){
		.kind = TYPE_ARRAY, .size = n, .n = n,
		.of = signature_type(h->s, &(struct type){ .kind = TYPE_CHAR, .size = 1 }),
	};
	return 0;
}

/* 12, or 0xc */
static bool take_offset(struct hand *h, uint32_t *ret)
{
	struct word w = take_word(h);

	if (w.n < 3 || w.p[0] != '0' || w.p[1] != 'x')
		return word_number(w, 0, ret);
	*ret = 0;
	for (size_t i = 2; i < w.n; i++) {
		char c = (char)tolower((unsigned char)w.p[i]);

		if (!isxdigit((unsigned char)c) || *ret > NUMBER_MAX)
			return false;
		*ret = *ret * 16 + (uint32_t)(isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10);
	}
	return true;
}

/* NAME@OFFSET:TYPE */
static int take_member(struct hand *h, unsigned int nested, struct member *ret, uint64_t *end)
{
	struct word name = take_word(h);
	struct type type;
	const char *at;
	int err;

	if (!take_char(h, '@'))
		return wrong(h, h->at, "a @ and an offset follow a member's name");
	at = h->at;
	if (!take_offset(h, &ret->at))
		return wrong(h, at, "an offset is a number of bytes");
	if (!take_char(h, ':'))
		return wrong(h, h->at, "a : and a type follow an offset");
	err = take_inner(h, nested, &type);
	if (err)
		return err;
	ret->name = name.n ? add_name(h, name) : 0;
	ret->type = signature_type(h->s, &type);
	*end = ret->at + type.size;
	return *end > STRUCT_MAX ? wrong(h, at, "a member ends within the first 64 bytes") : 0;
}

/* What a pointer leads to: behind the {. A member without a name is all of it. */
static int take_struct(struct hand *h, unsigned int nested, uint32_t *ret)
{
	struct type type = { .kind = TYPE_STRUCT };
	struct member members[STRUCT_MAX] = { 0 };
	bool nameless = false;

	do {
		uint64_t end = 0;

		if (type.n == ARRAY_SIZE(members))
			return wrong(h, h->at, "too many members");
		int err = take_member(h, nested + 1, &members[type.n], &end);

		if (err)
			return err;
		nameless |= !members[type.n++].name;
		type.size = MAX(type.size, end);
	} while (take_char(h, ','));
	if (!take_char(h, '}'))
		return wrong(h, h->at, "a , or } was expected");
	if (nameless && type.n > 1)
		return wrong(h, h->at, "of several members each has a name");
	if (nameless)
		type = (struct type){ .kind = TYPE_STRUCT, .size = type.size, .shape = SHAPE_INNER,
				      .of = members[0].type, .pointer_at = members[0].at };
	type.first = (uint32_t)h->s->nmembers;
	for (uint32_t i = 0; i < type.n; i++)
		signature_member(h->s, &members[i]);
	*ret = signature_type(h->s, &type);
	return 0;
}

static bool is_pointer(struct word w)
{
	return word_is(w, "ptr") || word_is(w, "addr");
}

/* Behind "ptr" or "addr": what it leads to is followed however deep pointers are. */
static int take_pointed(struct hand *h, unsigned int nested, struct type *type)
{
	const char *at = h->at;

	if (!take_char(h, '{'))
		return 0;
	if (nested == NESTED_MAX)
		return wrong(h, at, "too many structures within others");
	type->kind = TYPE_REFERENCE;
	return take_struct(h, nested, &type->of);
}

/* A type that needs no length. */
static int take_inner(struct hand *h, unsigned int nested, struct type *ret)
{
	struct word w = take_word(h);

	if (word_is(w, "chars"))
		return take_chars(h, w.p, ret);
	if (word_is(w, "buf") || word_is(w, "out") || word_is(w, "outstr") ||
	    word_is(w, "list") || word_is(w, "void") || !find_type(h, w, ret))
		return wrong(h, w.p, "no such type within another");
	return is_pointer(w) ? take_pointed(h, nested, ret) : 0;
}

/* list(LENGTH, TYPE) */
static int take_elements(struct hand *h, uint8_t param, struct type *type, struct contents *c)
{
	struct type element;
	const char *at = h->at;
	int err = take_char(h, '(') ? take_length(h, param, c) :
		wrong(h, h->at, "a list has a length and a type: (LENGTH, TYPE)");

	if (!err && c->from == LENGTH_RESULT)
		return wrong(h, at + 1, "a list is read at the entry, where ret is not known");
	if (!err && !take_char(h, ','))
		err = wrong(h, h->at, "a , and a type follow the length");
	err = err ? err : take_inner(h, 0, &element);
	if (!err && !take_char(h, ')'))
		err = wrong(h, h->at, "a ) closes a list");
	if (err)
		return err;
	c->behind = BEHIND_LIST;
	c->unit = (uint32_t)element.size;
	type->of = signature_type(h->s, &element);
	if (c->from == LENGTH_FIXED) {
		*type = (struct type){ .kind = TYPE_ARRAY, .size = c->length * element.size,
				       .of = type->of, .n = c->length };
		*type = (struct type){ .kind = TYPE_REFERENCE, .size = 8,
				       .of = signature_type(h->s, type) };
		*c = (struct contents){ .behind = BEHIND_TYPE };
	}
	return 0;
}

/* What a parameter's type leads to. */
static int take_behind(struct hand *h, struct word word, uint8_t param, struct type *type,
		       struct contents *c)
{
	int err = 0;

	if (word_is(word, "list"))
		return take_elements(h, param, type, c);
	if (is_pointer(word))
		err = take_pointed(h, 0, type);
	if (!err && type->kind != TYPE_REFERENCE)
		err = take_contents(h, word, param, c);
	return err;
}

/* ---- parameters ---------------------------------------------------------- */

static struct parameter *add_param(struct hand *h, struct word name, uint8_t *index)
{
	struct signature *s = h->s;
	uint32_t position = 0;
	bool numbered = name.n > 3 && !memcmp(name.p, "arg", 3) && word_number(name, 3, &position);

	if (word_is(name, "ret")) {
		*index = PARAMS_MAX;
		h->has_result = true;
		return &s->result;
	}
	if (numbered && position > PARAMS_MAX)
		return NULL;
	/* Those before it are taken for integers. */
	while (numbered && s->nparams + 1 < position) {
		struct parameter *p = &s->params[s->nparams++];

		p->type = signature_type(s, &(struct type){ .kind = TYPE_INT, .size = 8 });
		p->place.kind = PLACE_BY_TYPE;
		p->hidden = true;
	}
	if (numbered && position && position <= s->nparams) {
		*index = (uint8_t)(position - 1);
		return s->params[*index].hidden ? &s->params[*index] : NULL;
	}
	*index = (uint8_t)s->nparams;
	return s->nparams < PARAMS_MAX ? &s->params[s->nparams++] : NULL;
}

static bool is_named(const struct hand *h, const struct parameter *p, struct word w)
{
	const char *name = signature_name_at(h->s, p->name);

	return !p->hidden && word_is(w, name);
}

static int take_item(struct hand *h)
{
	struct word name = take_word(h), word;
	struct type type;
	uint8_t index;

	if (!name.n)
		return wrong(h, h->at, "a name was expected");
	if (!take_char(h, ':'))
		return wrong(h, h->at, "a : and a type follow a name");
	if (word_is(name, "ret") && h->has_result)
		return wrong(h, name.p, "there is one result");
	for (size_t i = 0; i < h->s->nparams; i++)
		if (is_named(h, &h->s->params[i], name))
			return wrong(h, name.p, "an argument has that name already");
	struct parameter *p = add_param(h, name, &index);

	if (!p)
		return wrong(h, name.p, "too many, or this one twice");
	word = take_word(h);
	if (!find_type(h, word, &type))
		return wrong(h, word.p, "no such type");
	if (type.kind == TYPE_VOID && p != &h->s->result)
		return wrong(h, word.p, "void is a result only");
	int err = take_behind(h, word, index, &type, &p->contents);

	p->name = p == &h->s->result ? 0 : add_name(h, name);
	p->type = type.kind == TYPE_VOID ? 0 : signature_type(h->s, &type);
	p->place.kind = PLACE_BY_TYPE;
	p->hidden = false;
	return err;
}

static int take_dots(struct hand *h)
{
	if (h->end - h->at < 3 || memcmp(h->at, "...", 3))
		return wrong(h, h->at, "three dots say that there may be more");
	h->at += 3;
	h->s->variadic = true;
	return 0;
}

static int take_list(struct hand *h)
{
	if (take_char(h, ')'))
		return 0;
	do {
		skip_space(h);
		int err = h->at < h->end && *h->at == '.' ? take_dots(h) : take_item(h);

		if (err)
			return err;
	} while (take_char(h, ','));
	return take_char(h, ')') ? 0 : wrong(h, h->at, "a , or ) was expected");
}

/* ---- lengths that are names ---------------------------------------------- */

static int resolve(struct hand *h, const struct pending *p)
{
	struct signature *s = h->s;
	struct contents *c = p->param == PARAMS_MAX ? &s->result.contents :
		&s->params[p->param].contents;

	if (word_is(p->name, "ret") && c->from == LENGTH_RESULT)
		return h->has_result && s->result.type ? 0 :
			wrong(h, p->name.p, "there is no result");
	for (size_t i = 0; i < s->nparams; i++)
		if (is_named(h, &s->params[i], p->name)) {
			c->param = (uint8_t)i;
			return 0;
		}
	return wrong(h, p->name.p, "no parameter has that name");
}

/* -------------------------------------------------------------------------- */

/* The ( that the last ) closes, for a name may have some before it. If there is none, the first,
 * so that what is wrong behind it is found. */
static const char *find_open(const char *text, const char *end)
{
	const char *open = NULL;
	int depth = 0;

	for (const char *p = text; p < end; p++) {
		if (*p == '(' && !depth++)
			open = p;
		else if (*p == ')' && depth && !--depth && p + 1 == end)
			return open > text ? open : NULL;
	}
	open = strchr(text, '(');
	return open && open > text ? open : NULL;
}

static int parse(struct hand *h)
{
	int err = take_list(h);

	skip_space(h);
	if (!err && h->at != h->end)
		err = wrong(h, h->at, "nothing follows the )");
	for (size_t i = 0; i < h->npending && !err; i++)
		err = resolve(h, &h->pending[i]);
	if (!err && h->s->out_of_memory)
		err = -ENOMEM;
	return err;
}

int hand_parse(const char *text, uint16_t machine, struct signature *ret, size_t *name,
	       struct hand_error *error)
{
	struct hand h = { .text = text, .s = ret, .error = error, .end = text + strlen(text) };

	while (h.end > text && isspace((unsigned char)h.end[-1]))
		h.end--;
	const char *open = find_open(text, h.end);

	*error = (struct hand_error){ 0, "out of memory" };
	if (!open)
		return wrong(&h, h.end, "FUNCTION(NAME:TYPE, ...) was expected");
	int err = signature_begin(ret, machine);

	if (err)
		return err;
	*name = (size_t)(open - text);
	h.at = open + 1;
	ret->source = SIGNATURE_BY_HAND;
	ret->name = add_name(&h, (struct word){ text, *name });
	ret->result.place.kind = PLACE_BY_TYPE;
	err = parse(&h);
	if (err)
		signature_clear(ret);
	else
		places_settle(ret);
	return err;
}

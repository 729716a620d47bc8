/* SPDX-License-Identifier: MIT */
/* Are members, elements and strings of classes found for a condition, and is there room to read
 * them? */
#include "tests/unit/condition_world.h"

/* ---- members ------------------------------------------------------------- */

static uint32_t type(struct type t)
{
	uint32_t ret = signature_type(&sig, &t);

	MUST(ret);
	return ret;
}

static uint32_t pointer_to(uint32_t of)
{
	return type((struct type){ .kind = TYPE_POINTER, .size = 8, .of = of });
}

static void member(struct type *t, const char *name, uint32_t of, uint32_t at)
{
	if (!t->n++)
		t->first = (uint32_t)sig.nmembers;
	MUST(signature_member(&sig, &(struct member){
		.name = *name ? signature_text(&sig, name) : 0, .type = of, .at = at }));
}

static void param(const char *name, uint32_t of)
{
	sig.params[sig.nparams++] = (struct parameter){
		.name = signature_text(&sig, name), .type = of, .place.kind = PLACE_BY_TYPE };
}

static uint32_t t_int, t_uint, t_char, t_text, t_double, t_long;

static void begin_signature(void)
{
	signature_clear(&sig);
	MUST_EQ(signature_begin(&sig, EM_X86_64), 0);
	t_int = type((struct type){ .kind = TYPE_INT, .flags = TYPE_SIGNED, .size = 4 });
	t_uint = type((struct type){ .kind = TYPE_INT, .size = 4 });
	t_long = type((struct type){ .kind = TYPE_INT, .flags = TYPE_SIGNED, .size = 8 });
	t_char = type((struct type){ .kind = TYPE_CHAR, .flags = TYPE_SIGNED, .size = 1 });
	t_double = type((struct type){ .kind = TYPE_FLOAT, .size = 8 });
	t_text = pointer_to(t_char);
}

static void put(uint32_t at, uint64_t v, unsigned int n)
{
	memcpy(world + at, &v, n);
}

/*
 * struct req { enum method method; int :3 low, unsigned :5 high; char *path; char name[16];
 *	struct req *next; double ratio; union { long whole; int half[2]; }; }
 */
static uint32_t request(void)
{
	struct type t = { .kind = TYPE_STRUCT, .size = 64, .align = 8 };
	struct type inner = { .kind = TYPE_UNION, .size = 8, .align = 8 };
	uint32_t halves = type((struct type){ .kind = TYPE_ARRAY, .size = 8, .of = t_int, .n = 2 });
	uint32_t name = type((struct type){ .kind = TYPE_ARRAY, .size = 16, .of = t_char,
					    .n = 16 });
	uint32_t method = type((struct type){ .kind = TYPE_ENUM, .size = 4, .of = t_uint,
					      .first = (uint32_t)sig.nenumerators, .n = 2 });
	uint32_t ret = type(t), next = pointer_to(ret), low = (uint32_t)sig.nmembers, whole;

	signature_enumerator(&sig, 7, "POST");
	signature_enumerator(&sig, 8, "GET");
	member(&inner, "whole", t_long, 0);
	member(&inner, "half", halves, 0);
	whole = type(inner);
	low = (uint32_t)sig.nmembers;
	member(&t, "method", method, 0);
	member(&t, "low", t_int, 4);
	member(&t, "high", t_uint, 4);
	member(&t, "path", t_text, 8);
	member(&t, "name", name, 16);
	member(&t, "next", next, 32);
	member(&t, "ratio", t_double, 40);
	member(&t, "", whole, 48);
	sig.members[low + 1].bits = 3;
	sig.members[low + 2].bit = 3;
	sig.members[low + 2].bits = 5;
	sig.types[ret] = t;
	return ret;
}

static void put_request(uint32_t at)
{
	double ratio = 0.5;

	put(at, 7, 4);
	put(at + 4, 5 | 30 << 3, 4);
	put(at + 8, BASE + 0x600, 8);
	at_world(0x600, "/index");
	at_world(at + 16, "sixteen letters.");
	put(at + 32, BASE + 0x700, 8);
	memcpy(world + at + 40, &ratio, 8);
	put(at + 48, 0x100000002, 8);
}

static void members(void)
{
	uint32_t req;

	begin_signature();
	req = request();
	param("req", pointer_to(req));
	param("n", t_int);
	param("of", pointer_to(t_int));
	param("pp", pointer_to(pointer_to(req)));
	sig.result = (struct parameter){ .type = pointer_to(req), .place.kind = PLACE_BY_TYPE };
	places_settle(&sig);
	memset(world, 0, SIZE);
	put_request(0x500);
	put_request(0x700);
	put(0x700, 8, 4);
	put(0x700 + 32, 0, 8);
	put(0x800, BASE + 0x700, 8);
	regs.general[RDI] = BASE + 0x500;
	regs.general[RSI] = 3;
	regs.general[RDX] = BASE + 0x700;
	regs.general[RCX] = BASE + 0x800;
	passes("req->method == POST && POST == req->method && req->method != GET");
	passes("req->method == 7 && req->next->method == GET && req->next->method == Method::GET");
	passes("req->low == -3 && req->high == 30 && req->low < 0 && req.high > req.low");
	passes("req->path == \"/index\" && str(req->path) != \"/\" && str(req->path, 1) == \"/\"");
	passes("req->name == \"sixteen letters.\" && req->name != \"sixteen letters\"");
	passes("str(req->name, 7) == \"sixteen\"");
	passes("req->next->next == NULL && !req->next->next && req->next");
	passes("req->ratio == 0.5 && req->ratio < n");
	passes("req->whole == 0x100000002 && req->half[0] == 2 && req->half[1] == 1");
	passes("(*req).method == 7 && req[0].method == 7 && *of == 8 && of[1] != 0");
	passes("pp[0]->method == GET && (*pp)->method == 8 && (**pp).high == 30");
	passes("of[-128] == 7 && pp->method == GET && req.next.next == pp.next");
	unknown("req->next->next->method == 7");
	unknown("req->next->next->path == \"a\"");
	expect("retval->method == GET", VERDICT_OPEN, BASE + 0x700, VERDICT_PASSES);
	expect("retval->method == GET && req->method == POST", VERDICT_OPEN, 0, VERDICT_FAILS);
	expect("retval->path == req->path", VERDICT_OPEN, BASE + 0x700, VERDICT_PASSES);
	wrong("req->verb == 7", -ENOENT, 5,
	      "no member 'verb' (it has method, low, high, path, name, next, ratio, whole, half)");
	wrong("req == 1 && req->half[2]", -ENOENT, 21, "no element 2: there are 2");
	wrong("*req == 1", -EINVAL, 0, "this is a structure: its members are compared");
	wrong("req->half == 1", -EINVAL, 5, "this is an array: its elements are compared");
	wrong("req->method == PUT", -ENOENT, 15, "no argument 'PUT' (it has req, n, of, pp)");
	wrong("req + 1", -EINVAL, 4, "nothing is added to pointers: an element is p[N]");
	/* What lies in one structure is read at once. */
	shown = false;
	begin("req->method == 7 && req->low == 1 && req->next && req->half[1]");
	CHECK_EQ(plan.nops, 2);
	CHECK_EQ(condition.kept, 2);
}

/* ---- classes ------------------------------------------------------------- */

static uint32_t text_class(uint8_t shape, uint64_t size, uint32_t pointer_at, uint32_t length_at)
{
	struct type t = { .kind = TYPE_STRUCT, .shape = shape, .size = size, .align = 8,
			  .of = t_char, .pointer_at = pointer_at, .length_at = length_at };

	member(&t, "pointer", t_text, pointer_at);
	if (shape == SHAPE_TEXT)
		member(&t, "length", t_long, length_at);
	return type(t);
}

static void classes(void)
{
	struct type outer = { .kind = TYPE_STRUCT, .size = 120, .align = 8 };
	uint32_t owner, inner, reference, text, cow, other, view, vector, optional;

	begin_signature();
	text = text_class(SHAPE_TEXT, 32, 0, 8);
	owner = type((struct type){ .kind = TYPE_STRUCT, .shape = SHAPE_OWNER, .size = 8,
				    .of = t_int });
	inner = type((struct type){ .kind = TYPE_STRUCT, .shape = SHAPE_INNER, .size = 8,
				    .of = t_int, .pointer_at = 4 });
	vector = type((struct type){ .kind = TYPE_STRUCT, .shape = SHAPE_VECTOR, .size = 24,
				     .of = t_int, .length_at = 8 });
	optional = type((struct type){ .kind = TYPE_STRUCT, .shape = SHAPE_OPTIONAL, .size = 8,
				       .of = t_int, .length_at = 4 });
	cow = text_class(SHAPE_TEXT_COW, 8, 0, 0);
	other = text_class(SHAPE_TEXT_LIBCXX, 24, 16, 8);
	view = text_class(SHAPE_TEXT, 16, 0, 8);
	member(&outer, "text", text, 0);
	member(&outer, "cow", cow, 32);
	member(&outer, "other", other, 40);
	member(&outer, "owner", owner, 64);
	member(&outer, "inner", inner, 72);
	member(&outer, "vector", vector, 88);
	member(&outer, "optional", optional, 112);
	reference = type((struct type){ .kind = TYPE_REFERENCE, .size = 8, .of = type(outer) });
	param("o", reference);
	param("i", type((struct type){ .kind = TYPE_REFERENCE, .size = 8, .of = t_int }));
	param("view", view);
	places_settle(&sig);
	memset(world, 0, SIZE);
	regs.general[RDI] = BASE + 0x100;
	regs.general[RSI] = BASE + 0x200;
	regs.general[RDX] = BASE + 0x300;
	regs.general[RCX] = 4;
	put(0x100, BASE + 0x308, 8);
	put(0x108, 5, 8);
	put(0x120, BASE + 0x418, 8);
	put(0x400, 3, 8);
	at_world(0x418, "cow, and more");
	put(0x140, BASE + 0x200, 8);
	put(0x14c, 9, 4);
	put(0x200, 11, 4);
	at_world(0x300, "viewed, and more");
	at_world(0x308, "and more");
	world[0x128] = 6 << 1;
	at_world(0x129, "short.");
	passes("o.text == \"and m\" && o.text != \"and\" && str(o.text, 3) == \"and\"");
	passes("o.cow == \"cow\" && o.cow != o.text && o.text != view");
	passes("o.other == \"short.\" && !(o.other == \"short\") && o.other != \"short..\"");
	passes("view == \"view\" && str(view, 1) == \"v\"");
	passes("o.owner != NULL && *o.owner == 11 && i == 11 && o.inner == 9 && i > o.inner");
	put(0x158, BASE + 0x500, 8);
	put(0x160, BASE + 0x50c, 8);
	put(0x500, 1, 4);
	put(0x508, 3, 8);
	put(0x170, 7 | 1ull << 32, 8);
	passes("o.vector[0] == 1 && o.vector[1] == 0 && o.vector[2] == 3");
	unknown("o.vector[3] == 0");
	passes("*o.optional == 7 && *o.optional < 8");
	put(0x174, 0, 1);
	unknown("*o.optional == 7");
	/* A long one. */
	put(0x128, 1, 8);
	put(0x130, 8, 8);
	put(0x138, BASE + 0x308, 8);
	passes("o.other == \"and more\" && o.other != \"and m\" && !(o.other != \"and more\")");
	put(0x138, 8, 8);
	unknown("o.other == \"and more\"");
	/* No characters, and nowhere. */
	regs.general[RDX] = 0;
	regs.general[RCX] = 0;
	passes("view == \"\" && view != \"a\" && !(view == \"a\")");
	regs.general[RDX] = 8;
	regs.general[RCX] = 1;
	unknown("view == \"\"");
	regs.general[RDI] = 0;
	unknown("o.text == \"\"");
	wrong("o.vector[64]", -ENOENT, 8, "this element is not read: the first 256 bytes are");
	wrong("o.vector", -EINVAL, 2, "this is a list: its elements are compared");
	wrong("o.optional == 1", -EINVAL, 2,
	      "this is a value that may not be there: * is before what is compared");
	wrong("str(view, i) == \"a\"", -EINVAL, 13, "this string has a length of its own");
}

/* One that is as long as what was read of another one, which goes on. */
static void beginnings(void)
{
	struct type t = { .kind = TYPE_STRUCT, .size = 72, .align = 8 };
	uint32_t array;

	begin_signature();
	array = type((struct type){ .kind = TYPE_ARRAY, .size = 64, .of = t_char, .n = 64 });
	member(&t, "a", array, 0);
	member(&t, "p", t_text, 64);
	param("v", pointer_to(type(t)));
	places_settle(&sig);
	memset(world, 0, SIZE);
	memset(world + 0x100, 'x', 64);
	put(0x140, BASE + 0x200, 8);
	memset(world + 0x200, 'x', 65);
	regs.general[RDI] = BASE + 0x100;
	passes("v->a != str(v->p) && str(v->p) != v->a");
	fails("v->a == v->p || v->p == v->a");
	world[0x240] = 0;
	passes("v->a == v->p && v->p == v->a");
}

/* ---- places -------------------------------------------------------------- */

/* On the stack, behind a pointer to a copy, in two registers, nowhere; and of results. */
static void places(void)
{
	struct type big = { .kind = TYPE_STRUCT, .size = 32, .align = 8 };
	struct type copied = big, pair = { .kind = TYPE_STRUCT, .size = 16, .align = 8 };
	uint32_t t_big, t_copied, t_pair;

	begin_signature();
	member(&big, "a", t_long, 0);
	member(&big, "d", t_int, 24);
	t_big = type(big);
	copied = big;
	copied.flags = TYPE_INDIRECT;
	t_copied = type(copied);
	member(&pair, "l", t_long, 0);
	member(&pair, "m", t_int, 8);
	member(&pair, "r", t_int, 12);
	member(&pair, "__0", t_int, 8);
	t_pair = type(pair);
	param("big", t_big);
	param("copied", t_copied);
	param("pair", t_pair);
	param("gone", t_int);
	param("nowhere", t_text);
	sig.result = (struct parameter){ .type = t_big, .place.kind = PLACE_BY_TYPE };
	places_settle(&sig);
	sig.params[3].place.kind = PLACE_GONE;
	sig.params[4].place.kind = PLACE_UNKNOWN;
	memset(world, 0, SIZE);
	regs.stack = BASE + 0x100;
	put(0x108, 5, 8);
	put(0x120, 6, 4);
	put(0x200, 7, 8);
	put(0x218, 8, 4);
	/* The first register has where the result is to be. */
	regs.general[RDI] = BASE + 0x300;
	regs.general[RSI] = BASE + 0x200;
	regs.general[RDX] = (uint64_t)-1;
	regs.general[RCX] = 2 | 3ull << 32;
	put(0x300, 9, 8);
	passes("big.a == 5 && big.d == 6 && copied.a == 7 && copied.d == 8");
	passes("pair.l == -1 && pair.m == 2 && pair->r == 3 && pair.0 == 2");
	expect("retval.a == 9", VERDICT_OPEN, BASE + 0x300, VERDICT_PASSES);
	unknown("gone == 1");
	unknown("gone * 2 == pair.m");
	unknown("nowhere == \"a\"");
	unknown("nowhere[3] == 'a'");
	passes("gone == 1 || pair.m == 2");
	fails("gone == 1 && pair.m == 3");
	CHECK(condition.unknown);
	begin("pair.m == 3");
	CHECK(!condition.unknown);
	begin("retval.a == 9 && big.a == 1");
	CHECK_EQ(condition.kept, 1);
}

/* ---- room ---------------------------------------------------------------- */

/* A plan that is full gives up what is only shown; and then there is an end. */
static void room(void)
{
	struct condition_error e;
	struct condition c;
	struct read_plan full;
	struct type big = { .kind = TYPE_STRUCT, .size = 1000 };
	uint32_t text;

	by_hand("f(a:str, b:str, c:str, d:str, e:str, n:ptr, ret:int)");
	reads_compile(&sig, &(struct compile_options){ .text = 256, .deep = 1 }, &full);
	plan = full;
	MUST_EQ(condition_compile("str(n) == \"a\" && retval", &sig, &plan, &names, &c, &e), 0);
	CHECK_EQ(reads_check(&plan), 0);
	CHECK_EQ(condition_check(&c), 0);
	for (unsigned int i = 0; i < plan.nops; i++)
		CHECK(!!(plan.ops[i].flags & READ_AT_EXIT) == (i >= plan.nentry));
	/* A literal of as many bytes as are read where none is. */
	begin_signature();
	text = type((struct type){ .kind = TYPE_ARRAY, .size = 250, .of = t_char, .n = 250 });
	for (int i = 0; i < 4; i++)
		member(&big, (char[]){ (char)('a' + i), 0 }, text, 250 * i);
	text = pointer_to(type(big));
	param("v", text);
	param("w", text);
	places_settle(&sig);
	MUST_EQ(condition_compile("v->a == \"123456789012345678901234567890123456789012345678901234567890"
				  "123\"", &sig, &plan, &names, &c, &e), 0);
	/* Six times 250 bytes. */
	wrong("v->a == v->b && v->c == v->d && w->a == w->b", -ENOSPC, 37,
	      "there is no room to read this: with more than 1024 bytes or 64 reads of a call");
}

/* Whatever the order in which it is written, few values wait. */
static void depths(void)
{
	static char expr[1000];
	char *p = expr;

	by_hand("f(a:int, b:int)");
	regs.general[RDI] = 1;
	regs.general[RSI] = 0;
	for (int i = 0; i < 14; i++)
		p += sprintf(p, "b || (a && (");
	p += sprintf(p, "a");
	for (int i = 0; i < 14; i++)
		p += sprintf(p, "))");
	passes(expr);
	passes("1 + (1 + (1 + (1 + (1 + (1 + (1 + (1 + a))))))) == 9");
	wrong("a - (a - (a - (a - (a - (a - (a - (a - b)))))))", -ENOSPC, 2,
	      "this is nested too deeply");
	p = expr;
	for (int i = 0; i < 33; i++)
		p += sprintf(p, "%sa == %d", i ? " || " : "", i);
	wrong(expr, -ENOSPC, 339, "this is too long: a condition has at most 64 operations");
}

int main(void)
{
	members();
	classes();
	beginnings();
	places();
	room();
	depths();
	signature_clear(&sig);
	return failures != 0;
}

/* SPDX-License-Identifier: MIT */
#include "values/pick.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

struct picking {
	const struct signature *s;
	struct pick *ret;
};

static bool is_letter(char c)
{
	return isalpha((unsigned char)c) || c == '_' || c & 0x80;
}

/* The bytes of a name that stands here; 0: none does. Members of Rust's tuples are numbers. */
static size_t name_length(const char *p, bool member)
{
	size_t n = 0;

	if (!is_letter(*p) && !(member && isdigit((unsigned char)*p)))
		return 0;
	while (is_letter(p[n]) || isdigit((unsigned char)p[n]))
		n++;
	return n;
}

/* "." or "->" and a name, or "[3]": where the step ends; NULL: it is none. */
static const char *step_end(const char *p)
{
	if (*p == '[') {
		size_t n = strspn(p + 1, "0123456789");

		return n && n < 9 && p[1 + n] == ']' ? p + n + 2 : NULL;
	}
	if (*p != '.' && strncmp(p, "->", 2) != 0)
		return NULL;
	p += *p == '.' ? 1 : 2;
	size_t n = name_length(p, true);

	return n ? p + n : NULL;
}

bool pick_is_name(const char *name)
{
	const char *p = name + strspn(name, "*");
	size_t n = name_length(p, false);

	for (p += n; n && p && *p;)
		p = step_end(p);
	return n && p;
}

/* ---- steps --------------------------------------------------------------- */

static bool add_step(struct picking *p, enum pick_way way, uint32_t at)
{
	struct pick *r = p->ret;

	/* Of two that lead into a value one is made. */
	if (way == PICK_INTO && r->nsteps && r->steps[r->nsteps - 1].way == PICK_INTO) {
		r->steps[r->nsteps - 1].at += at;
		return true;
	}
	if (r->nsteps == PICK_STEPS)
		return false;
	r->steps[r->nsteps].way = (uint8_t)way;
	r->steps[r->nsteps].type = r->type;
	r->steps[r->nsteps++].at = at;
	return true;
}

static const struct type *type_now(const struct picking *p)
{
	return signature_type_at(p->s, p->ret->type);
}

/* To what the pointer leads that this value is, or has as its only content. */
static bool go_behind(struct picking *p)
{
	const struct type *t = type_now(p);
	bool owner = t->shape == SHAPE_OWNER;

	if (!owner && (t->shape || (t->kind != TYPE_POINTER && t->kind != TYPE_REFERENCE)))
		return false;
	if (!add_step(p, PICK_BEHIND, owner ? t->pointer_at : 0))
		return false;
	p->ret->type = t->of;
	return true;
}

/* As deep as it takes to what has members, or elements. */
static void go_on(struct picking *p)
{
	for (int i = 0; i < PICK_STEPS; i++) {
		const struct type *t = type_now(p);

		if (type_is_inner(t)) {
			if (!add_step(p, PICK_INTO, t->pointer_at))
				return;
			p->ret->type = t->of;
		} else if (!go_behind(p)) {
			return;
		}
	}
}

static bool is_called(const struct picking *p, const struct member *m, const char *name, size_t n)
{
	const char *its = signature_name_at(p->s, m->name);

	/* Rust's tuples have __0 where users write 0. */
	if (isdigit((unsigned char)*name) && !strncmp(its, "__", 2))
		its += 2;
	return strlen(its) == n && !memcmp(its, name, n);
}

/* In a structure, and in those within it that have no name, or are what it inherits from. */
static bool find_member(struct picking *p, uint32_t type, uint32_t at, const char *name, size_t n,
			unsigned int nested)
{
	const struct type *t = signature_type_at(p->s, type);

	if ((t->kind != TYPE_STRUCT && t->kind != TYPE_UNION) || nested > NESTED_MAX)
		return false;
	for (uint32_t i = 0; i < t->n; i++) {
		const struct member *m = signature_member_at(p->s, t, i);

		if (m && is_called(p, m, name, n)) {
			p->ret->bits = m->bits ? m : NULL;
			p->ret->type = m->type;
			return add_step(p, PICK_INTO, at + m->at);
		}
	}
	for (uint32_t i = 0; i < t->n; i++) {
		const struct member *m = signature_member_at(p->s, t, i);
		bool open = m && (m->flags & MEMBER_BASE || !*signature_name_at(p->s, m->name));

		if (open && find_member(p, m->type, at + m->at, name, n, nested + 1))
			return true;
	}
	return false;
}

static bool step_member(struct picking *p, const char *name, size_t n)
{
	go_on(p);
	return !type_now(p)->shape && find_member(p, p->ret->type, 0, name, n, 0);
}

static bool step_element(struct picking *p, uint32_t i)
{
	const struct type *t = type_now(p), *of;

	if (t->kind == TYPE_ARRAY && !t->shape) {
		of = signature_type_at(p->s, t->of);
		if (i >= t->n || !add_step(p, PICK_INTO, (uint32_t)(i * of->size)))
			return false;
		p->ret->type = t->of;
		return true;
	}
	if (!go_behind(p))
		return false;
	of = type_now(p);
	return i * of->size < READS_BYTES_MAX && add_step(p, PICK_INTO, (uint32_t)(i * of->size));
}

static bool take_step(struct picking *p, const char *at, const char *end)
{
	if (p->ret->bits)
		return false;
	if (*at == '[')
		return step_element(p, (uint32_t)strtoul(at + 1, NULL, 10));
	at += *at == '.' ? 1 : 2;
	return step_member(p, at, (size_t)(end - at));
}

/* ---- the parameter ------------------------------------------------------- */

/* A parameter's own name comes before its number. */
static int find_param(const struct signature *s, const char *name, size_t n)
{
	for (size_t i = 0; i < s->nparams; i++) {
		const char *its = signature_name_at(s, s->params[i].name);

		if (!s->params[i].hidden && strlen(its) == n && !memcmp(its, name, n))
			return (int)i;
	}
	if (n < 4 || n > 5 || memcmp(name, "arg", 3) != 0 || strspn(name + 3, "0123456789") < n - 3)
		return -1;
	size_t i = strtoul(name + 3, NULL, 10);

	return i && i <= s->nparams && !s->params[i - 1].hidden ? (int)i - 1 : -1;
}

static int begin(struct picking *p, const char *name, size_t n)
{
	bool result = n == 6 && !memcmp(name, "retval", n);
	int i = result ? READS_RESULT : find_param(p->s, name, n);
	const struct parameter *param;

	if (i < 0)
		return -ENOENT;
	param = result ? &p->s->result : &p->s->params[i];
	*p->ret = (struct pick){ .param = (uint8_t)i, .type = param->type,
				 .exit = result || param->contents.out };
	return result && signature_type_at(p->s, param->type)->kind == TYPE_VOID ? -ENOENT : 0;
}

int pick_find(const struct signature *s, const char *name, struct pick *ret)
{
	struct picking p = { s, ret };
	size_t stars = strspn(name, "*"), n = name_length(name + stars, false);
	const char *at = name + stars + n, *end;
	int err = pick_is_name(name) ? begin(&p, name + stars, n) : -ENOENT;

	for (; !err && *at; at = end) {
		end = step_end(at);
		err = take_step(&p, at, end) ? 0 : -ENOENT;
	}
	for (; !err && stars; stars--)
		err = !ret->bits && go_behind(&p) ? 0 : -ENOENT;
	return err;
}

/* ---- in a capture -------------------------------------------------------- */

static bool is_null(const struct capture *c, struct spot s)
{
	uint64_t pointer;
	uint8_t bytes[8];

	if (capture_take(c, s, sizeof(bytes), bytes) != HELD)
		return false;
	memcpy(&pointer, bytes, sizeof(pointer));
	return !pointer;
}

enum held pick_spot(const struct capture *c, const struct pick *pick, struct spot *ret, bool *null)
{
	struct spot s = { true, pick->param, 0 };

	*null = false;
	for (unsigned int i = 0; i < pick->nsteps; i++) {
		s.at += pick->steps[i].at;
		if (pick->steps[i].way == PICK_INTO)
			continue;
		uint8_t op = capture_behind(c, s, pick->steps[i].type);

		*null = is_null(c, s);
		if (*null)
			return HELD_UNREADABLE;
		if (op == READS_NONE || !c->v[op].there || c->v[op].status == READ_NOT)
			return HELD_NOT;
		if (c->v[op].status == READ_FAILED)
			return HELD_UNREADABLE;
		s = (struct spot){ false, op, 0 };
	}
	*ret = s;
	return HELD;
}

/* SPDX-License-Identifier: MIT */
/*
 * golang, continued: where does Go's runtime not preempt a goroutine?
 *
 * A thread that is asked to by a signal saves the address that it stands at on its
 * goroutine's stack, and other code runs. Not so in assembly, not in a function of which it is
 * not known where its stack has pointers, and not where the compiler says that it must not be:
 * all of the runtime, what is not to grow the stack, write barriers. (isAsyncSafePoint in the
 * runtime; what it looks at besides is not relied on.)
 */
#include "symbols/funcs/golang.h"

#include <errno.h>

enum {
	NPCDATA = 24,		/* bytes behind where a function begins */
	FLAG = 3, NFUNCDATA = 1,	/* bytes before it */
	ASSEMBLY = 4,		/* a flag */
	POINTERS = 1,		/* of the tables of data: where locals have some */
	NONE = 0xffffffff,	/* no such table */
	UNSAFE = -2,		/* a value of the first table by address */
};

struct walk {
	const struct image *im;
	const struct golang *g;
	uint64_t room;		/* bytes of tables: no real ones are read twice */
	struct range *v;
	size_t n, cap;
};

static int unsafe_note(struct walk *w, raddr_t start, raddr_t end)
{
	struct range *last = w->n ? &w->v[w->n - 1] : NULL;

	if (start >= end || (last && start < last->end))
		return 0;
	if (last && start == last->end) {
		last->end = end;
		return 0;
	}
	struct range *new = vec_push(w->v, w->n, w->cap);

	if (!new)
		return -ENOMEM;
	*new = (struct range){ start, end };
	return 0;
}

/* Seven bits in each byte, the lowest first. */
static bool read_number(struct walk *w, raddr_t *at, uint32_t *ret)
{
	uint64_t byte;

	*ret = 0;
	for (int shift = 0; shift < 32; shift += 7) {
		if (!w->room || !golang_read(w->im, (*at)++, 1, &byte))
			return false;
		w->room--;
		*ret |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* A table by address: how much the value changes, its sign last, and for how many
 * bytes it holds; in the end a value that does not change. */
static int note_table(struct walk *w, struct range code, raddr_t at)
{
	uint32_t change, bytes;
	raddr_t pc = code.start;
	uint32_t value = (uint32_t)-1;
	int err = 0;

	while (!err && pc < code.end && read_number(w, &at, &change) &&
	       (change || pc == code.start) && read_number(w, &at, &bytes) && bytes) {
		raddr_t end = MIN(pc + bytes, code.end);

		value += change & 1 ? ~(change >> 1) : change >> 1;
		if ((int32_t)value == UNSAFE)
			err = unsafe_note(w, pc, end);
		pc = end;
	}
	return err;
}

/* Has it a table that says where its locals have pointers? */
static bool has_pointers(const struct walk *w, raddr_t end, uint64_t npcdata)
{
	uint64_t n, offset;

	if (!golang_read(w->im, end - NFUNCDATA, 1, &n))
		return true;
	if (n <= POINTERS || !w->g->layout->text)
		return n > POINTERS;
	return !golang_read(w->im, end + 4 * (npcdata + POINTERS), 4, &offset) || offset != NONE;
}

static int note_func(struct walk *w, struct range code, raddr_t description)
{
	const struct golang_layout *l = w->g->layout;
	raddr_t end = description + l->end, tables;
	uint64_t flags, n, offset;
	/* Where it begins is said twice. */
	bool known = golang_read(w->im, description, golang_begin_size(l), &offset) &&
		offset + w->g->text == code.start &&
		golang_read(w->im, end - FLAG, 1, &flags) &&
		golang_read(w->im, description + golang_begin_size(l) + NPCDATA, 4, &n) &&
		golang_read(w->im, w->g->table + l->names + 3 * 8, 8, &tables);

	if (!known)
		return 0;
	if (flags & ASSEMBLY || !has_pointers(w, end, n))
		return unsafe_note(w, code.start, code.end);
	if (!n || !golang_read(w->im, end, 4, &offset) || !offset)
		return 0;
	return note_table(w, code, w->g->table + tables + offset);
}

int golang_unsafe(const struct image *im, const struct golang *g, struct range **ret, size_t *n)
{
	struct walk w = { .im = im, .g = g, .room = image_held(im) };
	raddr_t description;
	struct range code;
	int err = 0;

	for (uint64_t i = 0; g->layout && g->layout->end && i < g->n && !err; i++) {
		if (!golang_func(im, g, i, &code, &description))
			break;
		err = note_func(&w, code, description);
	}
	*ret = w.v;
	*n = w.n;
	return err;
}

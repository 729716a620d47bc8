/* SPDX-License-Identifier: MIT */
#include "injector/ptrace/unwind_signs.h"

#include <string.h>

#include "symbols/unwind/unwind.h"

enum {
	ENTRY_MOST = 4096,	/* bytes of one entry; compilers' have a hundred */
	LENGTH = 4,		/* before each entry */
};

/* One entry of .eh_frame, a CIE or an FDE, behind its length. */
struct entry {
	uint8_t bytes[ENTRY_MOST];
	struct cursor c;
};

typedef bool read_fn(raddr_t, void *buf, size_t n);

static bool read_entry(read_fn *read, raddr_t at, struct entry *ret)
{
	uint32_t n;

	if (!read(at, &n, sizeof(n)) || n > sizeof(ret->bytes) ||
	    !read(at + LENGTH, ret->bytes, n))
		return false;
	ret->c = (struct cursor){ ret->bytes, ret->bytes + n, at + LENGTH, false };
	return true;
}

/* The FDE of the last function that begins at `pc` or before it. */
static bool find_fde(const struct unwind_table *t, raddr_t pc, read_fn *read, raddr_t *ret)
{
	uint64_t lo = 0, hi = t->entries;
	int32_t v[2];

	while (lo < hi) {
		uint64_t i = lo + (hi - lo) / 2;

		if (!read(t->at + i * sizeof(v), v, sizeof(v)))
			return false;
		if (t->header + (uint64_t)(int64_t)v[0] <= pc) {
			*ret = t->header + (uint64_t)(int64_t)v[1];
			lo = i + 1;
		} else {
			hi = i;
		}
	}
	return lo;
}

/* To where the program begins; *encoding is that of addresses in it. */
static bool skip_head(struct cursor *c, uint8_t *encoding)
{
	const uint8_t *letters;

	cursor_skip(c, sizeof(uint32_t));		/* that it is a CIE */
	uint8_t version = (uint8_t)cursor_uint(c, 1);
	for (letters = c->p; !c->bad && cursor_uint(c, 1);)
		;
	cursor_uleb(c);					/* units of code, and of data */
	cursor_uleb(c);
	if (version == 1)
		cursor_uint(c, 1);			/* the column of the return address */
	else
		cursor_uleb(c);
	if (c->bad || *letters++ != 'z')
		return false;
	struct cursor data = cursor_take(c, cursor_uleb(c));

	*encoding = DW_EH_PE_absptr;
	for (; *letters; letters++) {
		uint8_t byte = strchr("LPR", *letters) ? (uint8_t)cursor_uint(&data, 1) : 0;

		if (*letters == 'P')
			cursor_pointer(&data, byte & 0x0f);
		else if (*letters == 'R')
			*encoding = byte;
	}
	return !c->bad && !data.bad;
}

static void tell_each(struct cursor program, uint8_t encoding, uint8_t op, void (*each)(raddr_t))
{
	raddr_t at;

	while (cfa_find(&program, encoding, op, &at))
		each(at);
}

void unwind_signs(const struct unwind_table *t, raddr_t pc, uint8_t op, read_fn *read,
		  void (*each)(raddr_t))
{
	struct entry fde, cie;
	uint8_t encoding;
	raddr_t at;

	if (!find_fde(t, pc, read, &at) || !read_entry(read, at, &fde))
		return;
	raddr_t here = fde.c.addr;
	if (!read_entry(read, here - cursor_uint(&fde.c, sizeof(uint32_t)), &cie) ||
	    !skip_head(&cie.c, &encoding))
		return;
	tell_each(cie.c, encoding, op, each);
	cursor_pointer(&fde.c, encoding);
	cursor_pointer(&fde.c, encoding & 0x0f);
	cursor_skip(&fde.c, cursor_uleb(&fde.c));
	if (!fde.c.bad)
		tell_each(fde.c, encoding, op, each);
}

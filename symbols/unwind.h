/* SPDX-License-Identifier: MIT */
/*
 * unwind: which stretches of code have an unwind entry, what is the stack like
 * there, and where do exceptions land?
 *
 * .eh_frame is read by our own bounded parser and not by libdw: it is wanted
 * for every function of a file, from files that may be hostile, and it alone
 * knows the functions of a stripped file.
 */
#ifndef SYMBOLS_UNWIND_H
#define SYMBOLS_UNWIND_H

#include <errno.h>

#include "symbols/cursor.h"
#include "symbols/image.h"

/* How to compute the CFA somewhere: reg + offset, unless by an expression. */
struct cfa {
	uint64_t reg;		/* DWARF number */
	int64_t offset;
	bool is_expression;
};

struct cie {
	uint64_t at;		/* offset in the section; ascending */
	struct cursor program;
	struct cfa initial;	/* after its program: the state at a call */
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding, lsda_encoding;
	bool has_augmentation;	/* 'z' */
	bool usable;
};

enum fde_flag {
	FDE_ENTERED = 1,	/* the stack at its start is that of a call, as
				 * it is where a function begins */
	FDE_LSDA = 2,		/* has landing pads */
};

struct fde {
	struct range range;
	struct cursor program;
	raddr_t lsda;		/* 0: none */
	uint32_t cie;		/* index */
	uint8_t flags;		/* enum fde_flag */
};

struct unwind {
	struct cie *cies;	/* in the order of the section */
	size_t ncies, cies_cap;
	struct fde *fdes;	/* sorted by start, one per start, in text */
	size_t nfdes, fdes_cap;
	struct pointer_bases bases;
};

/* Read the .eh_frame of a loaded image, which must outlive `ret`. Entries that
 * make no sense are left out. 0 or -ENOMEM. */
int unwind_read(const struct image *, struct unwind *ret);
void unwind_clear(struct unwind *);

/* The entry that covers `pc`, or NULL. */
const struct fde *unwind_find(const struct unwind *, raddr_t pc);
/* The entry with the lowest start >= `pc`, or NULL. */
const struct fde *unwind_next(const struct unwind *, raddr_t pc);

/* Run a program up to `pc`, from the state *ret on. 0, or -ENOTSUP for what it
 * does not know. */
int cfa_run(const struct unwind *, const struct cie *, struct cursor program,
	    raddr_t start, raddr_t pc, struct cfa *ret);
/* The CFA rule at `pc` within `fde`. */
int unwind_cfa(const struct unwind *, const struct fde *, raddr_t pc,
	       struct cfa *ret);

/* Addresses found in passing. */
struct addresses {
	raddr_t *v;
	size_t n, cap;
};

static inline int addresses_add(struct addresses *a, raddr_t addr)
{
	raddr_t *p = vec_push(a->v, a->n, a->cap);

	if (!p)
		return -ENOMEM;
	*p = addr;
	return 0;
}

/*
 * Add the landing pads of every function, and flag its entry FDE_LSDA. 0,
 * -ENOMEM, or -EBADMSG when the tables overlap so much that reading them all
 * would take forever.
 */
int unwind_landing_pads(const struct image *, struct unwind *,
			struct addresses *ret);

#endif

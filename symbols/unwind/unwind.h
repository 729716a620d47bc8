/* SPDX-License-Identifier: MIT */
/*
 * unwind: which stretches of code have an unwind entry, what is the stack like
 * there, and where do exceptions land?
 *
 * libdw splits .eh_frame into its entries and runs their programs. It trusts them further than
 * a file of another user deserves, though, so it works on a copy from which whatever could hurt
 * it was taken out: see cfa.c.
 */
#ifndef SYMBOLS_UNWIND_H
#define SYMBOLS_UNWIND_H

#include <elfutils/libdw.h>
#include <errno.h>

#include "symbols/elf/cursor.h"
#include "symbols/elf/image.h"

struct cie {
	Dwarf_Off at;		/* in the section */
	uint8_t encoding, lsda_encoding;
	bool has_augmentation;	/* 'z' */
};

enum fde_flag {
	FDE_LSDA = 1,		/* has landing pads */
	FDE_STRANGE = 2,	/* what it has for its language has no known form */
};

struct fde {
	struct range range;	/* first, to be sorted by its start */
	raddr_t lsda;		/* 0: none */
	uint8_t flags;		/* enum fde_flag */
};

struct unwind {
	struct fde *fdes;	/* sorted by start, one per start, in text */
	size_t nfdes, fdes_cap;
	struct cie *cies;	/* in the order of the section */
	size_t ncies, cies_cap;
	uint16_t machine;
	/* An ELF file of nothing but the copy, which libdw reads. */
	uint8_t *copy;
	Elf *elf;
	Dwarf_CFI *cfi;
};

/* Read the .eh_frame of a loaded image. Entries that make no sense are left
 * out. 0 or -ENOMEM. */
int unwind_read(const struct image *, struct unwind *ret);
void unwind_clear(struct unwind *);

/* The entry that covers `pc`, or NULL. */
const struct fde *unwind_find(const struct unwind *, raddr_t pc);
/* The entry with the lowest start >= `pc`, or NULL. */
const struct fde *unwind_next(const struct unwind *, raddr_t pc);

/* The CFA's offset from the stack pointer at `pc`, which an entry covers.
 * -ENOTSUP when it is not sp + constant. Several threads may ask at once. */
int unwind_cfa(const struct unwind *, raddr_t pc, int64_t *ret);
/* Is the stack at the entry's start that of a call, as where a function
 * begins? */
bool unwind_is_entered(const struct unwind *, const struct fde *);

/* ---- within unwind ------------------------------------------------------- */

/* Copy the section into an ELF file of its own, and return where; NULL when
 * memory is out. */
uint8_t *cfa_copy(const struct image *, const struct cursor *section,
		  struct unwind *);
/* The copy is free of bad entries: hand it to libdw. */
int cfa_open(struct unwind *);
/* Can libdw run this program safely? */
bool cfa_is_sane(struct cursor program, uint8_t encoding);
/* Go behind the next operation `op`, DW_CFA_*, and tell where it is. False: there is none, or
 * the program makes no sense before it. */
bool cfa_find(struct cursor *program, uint8_t encoding, uint8_t op, raddr_t *ret);

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

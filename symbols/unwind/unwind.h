/* SPDX-License-Identifier: MIT */
/*
 * unwind: which stretches of code have an unwind entry, what is the stack like
 * there, and where do exceptions land?
 *
 * libdw splits .eh_frame, or .debug_frame, into its entries. It may read a few bytes past what is
 * cut off, so it gets a copy with some zeros behind. What the entries say of the stack is run in
 * cfa_run.c.
 */
#ifndef SYMBOLS_UNWIND_H
#define SYMBOLS_UNWIND_H

#include <elfutils/libdw.h>
#include <errno.h>

#include "symbols/elf/cursor.h"
#include "symbols/elf/image.h"

/* What a program says of the CFA at one place. */
struct cfa {
	uint64_t reg;		/* it is what this register holds, and */
	int64_t offset;
	bool known;
};

struct cie {
	Dwarf_Off at;		/* in the section */
	uint64_t code_factor;	/* of how far a program goes on, */
	int64_t data_factor;	/* and of the numbers that are signed */
	struct cfa initial;	/* where the programs of its entries begin */
	uint8_t encoding, lsda_encoding;
	bool has_augmentation;	/* 'z' */
	bool signal;		/* of what a signal has interrupted */
	const uint8_t *program;	/* its own, in the copy */
	uint32_t size;		/* of that */
	bool bad;		/* its own program makes no sense */
};

enum fde_flag {
	FDE_LSDA = 1,		/* has landing pads */
	FDE_STRANGE = 2,	/* what it has for its language has no known form */
};

struct fde {
	struct range range;	/* first, to be sorted by its start */
	raddr_t lsda;		/* 0: none */
	const uint8_t *program;	/* in the copy; NULL: it makes no sense */
	uint32_t size;		/* of that */
	uint32_t cie;		/* index in cies */
	uint8_t flags;		/* enum fde_flag */
};

struct unwind {
	struct fde *fdes;	/* sorted by start, one per start, in text */
	size_t nfdes, fdes_cap;
	struct cie *cies;	/* in the order of the section */
	size_t ncies, cies_cap;
	uint16_t machine;
	uint64_t id;		/* no other one has */
	uint8_t *copy;		/* of the section, which is at */
	raddr_t addr;
};

/* Read the .eh_frame of a loaded image. Entries that make no sense are left
 * out. 0 or -ENOMEM. */
int unwind_read(const struct image *, struct unwind *ret);
/* Likewise the .debug_frame of `from`: the image itself, or its debug file. */
int unwind_read_debug(const struct image *, const struct image *from, struct unwind *ret);
void unwind_clear(struct unwind *);

/* The entry that covers `pc`, or NULL. */
const struct fde *unwind_find(const struct unwind *, raddr_t pc);
/* The entry with the lowest start >= `pc`, or NULL. */
const struct fde *unwind_next(const struct unwind *, raddr_t pc);

/* The CFA's offset from the stack pointer at `pc`. -ENOENT when no entry covers it, -ENOTSUP when
 * it is not sp + constant. Several threads may ask at once. */
int unwind_cfa(const struct unwind *, raddr_t pc, int64_t *ret);
/* The CFA at `pc` is what this register holds, and so much more. The same errors. */
int unwind_cfa_rule(const struct unwind *, raddr_t pc, uint64_t *reg, int64_t *offset);
/* Is the stack at the entry's start that of a call, as where a function
 * begins? */
bool unwind_is_entered(const struct unwind *, const struct fde *);

/* ---- within unwind ------------------------------------------------------- */

enum { REMEMBER_MAX = 32 };	/* states that a program keeps; compilers nest one deep */

/* A program that runs. */
struct cfa_run {
	struct cursor c;
	const struct cie *cie;
	raddr_t at;			/* what it says holds from here on */
	struct cfa now, kept[REMEMBER_MAX];
	size_t nkept;
};

enum cfa_ran { CFA_RAN_ROW, CFA_RAN_ALL, CFA_RAN_BAD };

/* Does this program make sense? It is only run if so. */
bool cfa_is_sane(struct cursor program, uint8_t encoding);
/* Run the program of a CIE, which makes sense. */
void cfa_begin(struct cie *, struct cursor program);
/* Run one up to where the next row begins; or all; or to what it may not say there. */
enum cfa_ran cfa_run(struct cfa_run *);
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

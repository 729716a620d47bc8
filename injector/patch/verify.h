/* SPDX-License-Identifier: MIT */
/*
 * verify: is the code of a process what its files hold?
 *
 * Believes nothing that the target can write, the journal least. The kernel
 * tells which pages of file-backed code the process has copies of its own of:
 * no other page can differ, so only these are read and compared, however large
 * the text. (Where the kernel does not tell, all of it is.)
 */
#ifndef INJECTOR_VERIFY_H
#define INJECTOR_VERIFY_H

#include "injector/ptrace/target.h"

/* Bytes of code that are not those of the file. */
struct text_diff {
	raddr_t addr;
	uint8_t len;
	uint8_t is[16];
};

struct text_diffs {
	struct text_diff *v;	/* sorted, disjoint; owned */
	size_t n, cap;
	bool more;		/* there are more than are kept */
};

/*
 * Compare. A byte that `known` (NULL: nothing) has at its address with the same
 * value is no difference: it stood there before us. Where a file cannot be
 * opened, every byte of a page of its own differs. Reads only, stops nothing:
 * what the target maps or unmaps meanwhile may show up, so a difference counts
 * when it lasts (verify_lasting).
 */
int verify_text(const struct target *, const struct text_diffs *known,
		struct text_diffs *ret);
int verify_lasting(const struct target *, const struct text_diffs *known,
		   struct text_diffs *ret);
/* Keep those that belong to a jump into stubs of inject, of whichever visit:
 * an arena is known by the recording routines that it begins with, which the
 * target cannot write. */
int verify_keep_probes(const struct target *, struct text_diffs *);
/* Keep the others. */
int verify_drop_probes(const struct target *, struct text_diffs *);
void verify_clear(struct text_diffs *);

/* Has the process a copy of its own of that page of code, so that it was
 * written to? True also where that cannot be told. */
bool verify_is_copy(const struct target *, raddr_t);

#endif

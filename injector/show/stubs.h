/* SPDX-License-Identifier: MIT */
/*
 * stubs: what would be written for a function, and what would run: its sites, the
 * instructions that each displaces, and the code of its stub. For people to see whether
 * that is safe.
 */
#ifndef INJECTOR_STUBS_H
#define INJECTOR_STUBS_H

#include "injector/modules/select.h"
#include "trace/output/output.h"

/*
 * Of the i-th function of a selected module, which is probed; lines that begin with two
 * blanks. Addresses are those of the file. No process is asked: stubs are shown as they
 * would be right behind the module's code, and islands of puns are not chosen.
 */
void stubs_print(struct selected *, size_t i, struct output *);

#endif

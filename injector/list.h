/* SPDX-License-Identifier: MIT */
/* list: how would each selected function be probed, or why not? */
#ifndef INJECTOR_LIST_H
#define INJECTOR_LIST_H

#include "injector/output.h"
#include "injector/select.h"

/*
 * One line for each function, columns separated by tabs: address (hex, as in
 * the file), size, module, function, tactic of the entry, exits, and where the
 * address has more names their symbols, separated by spaces. Exits are
 * "3 jump, 1 short", "never returns", or "entry-only: REASON"; of a refused
 * function these two columns are "refused" and the reason, of the resolver of
 * an indirect function "ifunc" and "resolver". Names of reasons are
 * those of inject(1). Writes as it goes, and waits for the reader; 0 or -errno.
 */
int list_print(const struct selection *, struct output *);
/* Totals per tactic and per reason, on standard error. */
void list_totals(const struct selection *);

#endif

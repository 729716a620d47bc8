/* SPDX-License-Identifier: MIT */
/* unwind_signs: where does an entry of the unwind information say that a return address is
 * signed? Shared by unwind*.c only. */
#ifndef INJECTOR_UNWIND_SIGNS_H
#define INJECTOR_UNWIND_SIGNS_H

#include "injector/ptrace/unwind_tables.h"

/*
 * Call `each` with the address of every operation `op` (DW_CFA_*) in the programs of the entry
 * that covers `pc`. `read` is all or false. An entry that makes no sense has none from there on.
 */
void unwind_signs(const struct unwind_table *, raddr_t pc, uint8_t op,
		  bool (*read)(raddr_t, void *buf, size_t n), void (*each)(raddr_t));

#endif

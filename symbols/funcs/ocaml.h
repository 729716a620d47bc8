/* SPDX-License-Identifier: MIT */
/*
 * ocaml: which code of a file has OCaml's compiler made?
 *
 * Its runtime finds out by a fault that a stack has ended, and makes an exception of
 * that, if the fault was in such code; since version 5 stacks are small. Each unit
 * of a program is between two symbols, which ocamlopt exports, so that they are there
 * in stripped programs, too: camlUNIT__code_begin and camlUNIT__code_end. What assembly
 * calls OCaml, and what OCaml calls, is a unit named caml_system.
 */
#ifndef SYMBOLS_OCAML_H
#define SYMBOLS_OCAML_H

#include "symbols/elf/symtab.h"

/* By what each of these tables has; NULL ends the list. Sorted, disjoint. 0 or -ENOMEM. */
int ocaml_find(const struct symtab *const *tables, struct range **ret, size_t *n);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * shapes: is this class a text, a vector ... of a library that is known? It is told by its
 * members, for their names and places are what a reader needs; a name alone proves nothing.
 */
#ifndef VALUES_SHAPES_H
#define VALUES_SHAPES_H

#include "values/signature.h"

/* Set the shape of a structure whose members are complete. */
void shape_find(struct signature *, uint32_t type);

/* ---- shapes_rust.c ------------------------------------------------------- */

/* The same for Rust. True: its debug information does not say by members what the elements are. */
bool shape_find_rust(struct signature *, uint32_t type);
/* Then that is told so: 0, it is not known. */
void shape_elements(struct signature *, uint32_t type, uint32_t of);

/* ---- shapes_go.c --------------------------------------------------------- */

void shape_find_go(struct signature *, uint32_t type);

#endif

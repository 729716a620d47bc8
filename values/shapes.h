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

#endif

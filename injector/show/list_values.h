/* SPDX-License-Identifier: MIT */
/* list_values: what would be shown of a function's arguments and result? */
#ifndef INJECTOR_LIST_VALUES_H
#define INJECTOR_LIST_VALUES_H

#include "injector/modules/select.h"
#include "trace/output/output.h"
#include "values/compile.h"

/*
 * Of function `i`, if it is known: two spaces, its declaration, and behind # what is read of
 * memory. What the debug information does not have at the entry is marked. 0 or -ENOMEM.
 */
int list_values_print(const struct compile_options *, const struct selected *, size_t i,
		      struct output *);
/* Say of each module whose debug information is too large to be read that it is. */
void list_values_say(const struct selection *);

#endif

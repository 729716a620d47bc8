/* SPDX-License-Identifier: MIT */
/* children: which processes did this one start? */
#ifndef INJECTOR_CHILDREN_H
#define INJECTOR_CHILDREN_H

#include <sys/types.h>

#include "base/base.h"

/* Call `each` for every child. */
void children_each(pid_t pid, void (*each)(void *ctx, pid_t child), void *ctx);
/* Has this thread any, that it has started itself? False if the kernel does not say. */
bool children_any(pid_t pid, pid_t tid);
/* "4122 (worker), 4123 (worker), ..." as far as there is room; the number of
 * children, of which at most some are named. */
size_t children_list(pid_t pid, char *buf, size_t size);

#endif

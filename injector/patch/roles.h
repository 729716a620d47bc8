/* SPDX-License-Identifier: MIT */
/*
 * roles: of which copies of inlined functions does a mark tell that they begin, or have ended?
 *
 * A copy whose ends are certain (injector/modules/select_copies.h) is told as a call, if its begin
 * and all ends that are not optional are marked: else as a mark, where it begins.
 */
#ifndef INJECTOR_ROLES_H
#define INJECTOR_ROLES_H

#include "injector/modules/select_copies.h"
#include "injector/patch/live.h"

/* Set what live->funcs say of that, once they have names and their probes ids. 0 or -ENOMEM. */
int roles_set(struct live *, const struct selection *);

#endif

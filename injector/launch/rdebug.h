/* SPDX-License-Identifier: MIT */
/* rdebug: the list of modules that a dynamic loader keeps for debuggers. */
#ifndef INJECTOR_RDEBUG_H
#define INJECTOR_RDEBUG_H

#include <link.h>

#include "injector/modules/modules.h"
#include "injector/ptrace/target.h"

struct rdebug {
	raddr_t at;		/* 0: no loader, or none that we know */
	bool pointer;		/* what is there is the list's address */
};

/* Does this module keep the list? */
bool rdebug_find(struct module *, struct rdebug *ret);
int rdebug_read(const struct target *, const struct rdebug *, struct r_debug *ret);

#endif

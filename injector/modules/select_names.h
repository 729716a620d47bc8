/* SPDX-License-Identifier: MIT */
/* select_names: under which names are the functions of a selection printed? */
#ifndef INJECTOR_SELECT_NAMES_H
#define INJECTOR_SELECT_NAMES_H

#include "injector/modules/select.h"

/* Names are a file's, and go to terminals: nearly all can as they are. An address says
 * nothing without its module. NULL: no memory. */
const char *select_printed(struct strings *made, const struct module *, const struct func *,
			   const char *name);
/* Shorten them, if that is wanted, and add @MODULE where two modules share one. 0 or -ENOMEM. */
int select_settle_names(struct selection *, bool short_names);

#endif

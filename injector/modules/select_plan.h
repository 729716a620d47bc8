/* SPDX-License-Identifier: MIT */
/* select_plan: where would the probes of what is selected stand, in one module? */
#ifndef INJECTOR_SELECT_PLAN_H
#define INJECTOR_SELECT_PLAN_H

#include "injector/modules/select.h"

/* Places in one module to which the others' relocations lead. */
struct led_to {
	raddr_t *v;	/* the caller's */
	size_t n, cap;
};

/* Find them. 0 or -ENOMEM. */
int select_led_to(const struct modules *, const struct selected *, struct led_to *ret);
/* Plan it: the selection owns that. 0, or a negative error with a message. */
int select_plan(struct selected *, const struct select_options *, const struct led_to *);
/* Has a language of some of them a runtime, so that the reader pairs their calls? */
bool select_unpaired(const struct selection *);

#endif

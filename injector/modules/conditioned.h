/* SPDX-License-Identifier: MIT */
/* conditioned: which calls of a function pass, by a condition of the user's? */
#ifndef INJECTOR_CONDITIONED_H
#define INJECTOR_CONDITIONED_H

#include "injector/modules/modules.h"
#include "values/condition.h"
#include "values/reads.h"

struct condition_why {
	char text[1024];	/* empty: there is none yet */
	bool known;		/* it is of a function whose signature is known */
};

/* Compile a condition for a function that is called `name` (`signature` NULL: none of its values is
 * known), and add to its plan what that reads. 0; -EINVAL: the condition is wrong, with a message
 * and its column; -ENOENT: this function does not have what it asks for: its calls are not to be
 * recorded. *why is a message then for the case that no function has it: the first, but of one whose
 * signature is known before others. */
int conditioned_compile(const char *text, const struct modules *, const char *name,
			const struct signature *, struct read_plan *, struct condition *ret,
			struct condition_why *why);

#endif

/* SPDX-License-Identifier: MIT */
/* conditioned: which calls of a function pass, by a condition of the user's? */
#ifndef INJECTOR_CONDITIONED_H
#define INJECTOR_CONDITIONED_H

#include "injector/modules/modules.h"
#include "values/condition.h"
#include "values/reads.h"

enum { CONDITION_CALLERS = 4 };	/* globs of callers whose code is looked for once only */

/* A condition, and what all functions share that it is compiled for; zero at first, but for the
 * first six. */
struct conditions {
	const char *text;
	const struct modules *mods;
	bool left;		/* no inject will be there */
	bool outside;		/* all calls are recorded, and inject judges them as it reads */
	bool tells_cpu;		/* the process can tell which processor it runs on */
	bool entry_only;	/* no call's end is recorded */
	char why[1024];		/* a message for the case that no function has what it asks for:
				 * of the first of those that tell most */
	enum conditions_why {
		WHY_NOTHING,
		WHY_NO_SIGNATURE,
		WHY_NO_ARGUMENT,	/* that is called so: another function may have one */
		WHY_WRONG,
	} tells;
	/* Where code of callers is; `err` if that failed. */
	struct callers_found {
		char glob[128];
		int err;
		size_t n;
		struct condition_range v[CONDITION_RANGES];
	} found[CONDITION_CALLERS];
	size_t nfound;
};

/* Compile it for a function, or a place within one, that is called `name` (`signature` NULL: none
 * of its values is known), and add to its plan what that reads. 0; -ENOENT: this function does not
 * have what it asks for, or something else: its calls are not to be recorded; or another error,
 * with a message. */
int conditioned_compile(struct conditions *, const char *name, bool place,
			const struct signature *, struct read_plan *, struct condition *ret);

#endif

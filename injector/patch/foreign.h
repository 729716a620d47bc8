/* SPDX-License-Identifier: MIT */
/*
 * foreign: bytes of code that differed from their file before we came: another
 * tracer's breakpoints, text that was relocated. They stay. The journal has
 * them, so that a later stop knows them too.
 */
#ifndef INJECTOR_FOREIGN_H
#define INJECTOR_FOREIGN_H

#include "injector/patch/verify.h"
#include "injector/session/session.h"

enum { FOREIGN_MOST = 256 };	/* slots of the journal */

/* What differs now, at the beginning of a visit. -EBUSY, with the place, if a
 * probe of inject is among it. */
int foreign_look(const struct target *, struct text_diffs *ret);
/* Into a new session's journal, in the place of what earlier visits found. What
 * has no room there is not known to a later stop, which then names it. */
void foreign_write(struct session_map *, const struct text_diffs *);
/* What the journal says; it may lie, so no probe is taken for foreign. */
int foreign_read(const struct target *, const struct old_session *,
		 struct text_diffs *ret);

#endif

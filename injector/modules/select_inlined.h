/* SPDX-License-Identifier: MIT */
/* select_inlined: which copies of functions that were inlined does the user mean (--inlined)? */
#ifndef INJECTOR_SELECT_INLINED_H
#define INJECTOR_SELECT_INLINED_H

#include "injector/modules/select_place.h"

/* Add where those begin that a pattern matches, in a module, whose symbols have been read, and
 * where they end, if that is asked for and certain. Their names are added to `made`. 0, or a
 * negative error with a message. */
int places_add_inlined(struct marked_places *, struct pattern *, struct module *,
		       struct strings *made, bool ends);

#endif

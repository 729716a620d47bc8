/* SPDX-License-Identifier: MIT */
/* select_line: which places does the user mean by a line of a source file? */
#ifndef INJECTOR_SELECT_LINE_H
#define INJECTOR_SELECT_LINE_H

#include <stdio.h>

#include "injector/modules/select_place.h"
#include "symbols/lines/lineplaces.h"

/* Is the line looked for in this module? */
bool line_is_in(const struct pattern *at, struct module *);
/* Add its places in a module, whose symbols have been read. `sought` is one and the same for all
 * modules, and is cleared by the caller. 0, or -ENOMEM with a message. */
int places_add_line(struct marked_places *, struct pattern *at, struct lineplaces *sought,
		    struct module *);
/* All modules were asked. 0, or -EINVAL with a message: it is a line of several files. */
int line_check(const struct pattern *at, const struct lineplaces *sought);
/* It has no places: say what there is. */
void line_hint(FILE *, const struct modules *, const struct pattern *at);

#endif

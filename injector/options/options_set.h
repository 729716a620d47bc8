/* SPDX-License-Identifier: MIT */
/* options_set: what does one option say, with its value? */
#ifndef INJECTOR_OPTIONS_SET_H
#define INJECTOR_OPTIONS_SET_H

#include "injector/options/table.h"

enum { SPELLING_MAX = 32 };

/* How the user knows an option: "-f" where there is a letter. */
const char *options_spelling(const struct option_def *, char buf[SPELLING_MAX]);
/* Take it; `arg` is NULL where it has none. It stays until options_clear. 0, or a negative error
 * with a message. */
int options_set(struct options *, const struct option_def *, const char *arg);
/* Of hist of a process: what is named PROVIDER:NAME are places for tracers, and no functions. */
int options_find_places(struct options *);
/* Of hist: FUNCTION or FUNCTION:VALUE; and is it the latter? */
int options_take_valued(struct options *, const char *text);
bool options_names_value(const char *text);

#endif

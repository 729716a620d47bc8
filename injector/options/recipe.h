/* SPDX-License-Identifier: MIT */
/*
 * recipe: options that are kept in a text file, for `inject slow --recipe NAME`.
 *
 * A line is the long name of an option, without "--", and behind blanks its value; "#" begins a
 * comment, and the first line is one that says what the recipe shows. A recipe names what is looked
 * at, never which process that is, or where results go: it may be of another user. What stands on
 * the command line comes behind it.
 */
#ifndef INJECTOR_RECIPE_H
#define INJECTOR_RECIPE_H

#include "injector/options/options.h"

/* The name is that of a file in ~/.config/inject/recipes, /etc/inject/recipes, or where inject was
 * installed; or a path, which has a "/". Sets ret->recipe and recipe_text. 0, or a negative error
 * with a message. */
int recipe_take(const char *name, struct options *ret);
/* A line for each that is found by its name, with what it shows. Owned by the caller; NULL: no
 * memory. */
char *recipe_list(void);

#endif

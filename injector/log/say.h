/* SPDX-License-Identifier: MIT */
/*
 * say: what do we tell the user, apart from results?
 *
 * On standard error, each line beginning "inject: ". Never waits long: a
 * standard error that is not read must not keep the probes in.
 */
#ifndef INJECTOR_SAY_H
#define INJECTOR_SAY_H

#include "base/base.h"

/* Errors and the closing line: always said. A newline begins another line. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same without a format. */
void say_lines(const char *text);
/* The first line of what was said last, for the log. */
const char *say_last(void);
/* Banner and hints: not with -q. */
void say_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* -q was given: no hints and no progress. */
void say_quiet(bool quiet);
/* One line that is written over, on terminals only; for select_options and
 * whatever else takes long. It shows nothing in the first half second. */
void say_progress(void *ctx, const char *what, size_t done, size_t total);
/* Wipe it. Everything else that is said does so by itself. */
void say_progress_end(void);

/* Copy `text` to the start of buf[size], with what a terminal would take as a
 * command written as \xNN; cut off where the room ends. Returns buf. */
char *say_clean(const char *text, char *buf, size_t size);

#endif

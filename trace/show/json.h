/* SPDX-License-Identifier: MIT */
/* json: how does a call look in --json? One object per line. */
#ifndef TRACE_JSON_H
#define TRACE_JSON_H

#include "trace/read/frames.h"
#include "trace/output/output.h"

struct json;

int json_new(const struct clock *, struct output *out, struct json **ret);
/* With keys for the time with a processor and without one. */
void json_off_cpu(struct json *);
void json_free(struct json *);	/* NULL is legal */
/* Where callers get their names from, if there are any; it stays valid until json_free. */
struct caller_names;
void json_name(struct json *, const struct caller_names *);
struct sink json_sink(struct json *);
/* `text` as a JSON string, quotes included. What is no UTF-8 becomes U+FFFD. */
void json_string(struct output *, const char *text);
/* Two keys: the name of a function as it is, whatever tells it from others when it is
 * printed, and its module. */
void json_func(struct output *, const struct reader_func *);

struct shown_values;
/* "NAME":"VALUE" of each argument of a call, as it is printed elsewhere; `before` stands before the
 * first. One that is called as a key that the object has is "NAME (argument)"; `own` lists these
 * keys, with a space around each. */
void json_args(struct output *, struct shown_values *, const struct call *, const char *before,
	       const char *own);

#endif

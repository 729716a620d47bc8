/* SPDX-License-Identifier: MIT */
/* json: how does a call look in --json? One object per line. */
#ifndef INJECTOR_JSON_H
#define INJECTOR_JSON_H

#include "injector/frames.h"
#include "injector/output.h"
#include "injector/summary.h"

struct json;

int json_new(const struct reader *, struct output *out, int32_t pid,
	     struct json **ret);
void json_free(struct json *);	/* NULL is legal */
struct sink json_sink(struct json *);
/* The first line and the last one. */
void json_start(struct json *, const struct summary *);
void json_summary(struct json *, const struct summary *);
/* `text` as a JSON string, quotes included. What is no UTF-8 becomes U+FFFD. */
void json_string(struct output *, const char *text);

#endif

/* SPDX-License-Identifier: MIT */
/* options_values: what may be given to this option? 0, or a negative error with a message. */
#ifndef INJECTOR_OPTIONS_VALUES_H
#define INJECTOR_OPTIONS_VALUES_H

#include "injector/options/options.h"

int options_buffer(const char *text, uint64_t *ret);
int options_size(const char *text, uint64_t *ret);
/* --min-free; MIN_FREE_SHARE: it was not given. */
#define MIN_FREE_SHARE UINT64_MAX
int options_free(const char *text, uint64_t *ret);
int options_overhead(const char *text, uint32_t *ret);
int options_output(const char *text, const char **ret);
int options_keep(const char *text, enum keep *ret);
/* --snapshot-on: 'GLOB > TIME'. */
int options_slow(const char *text, struct slow_call *ret);
/* --at: FILE:LINE, as parsed for a name; sets the pattern's `offset`. */
int options_line(const char *text, struct pattern *);
/* -w: a condition, as far as it can be judged without a function. */
int options_when(const char *text, const char **ret);
/* -A: a signature, in the language of values/hand.h. */
int options_by_hand(const char *text, struct hand_spec *ret);
/* --from and --to: GLOB, GLOB:return, GLOB:first or PROVIDER:NAME. */
int options_point(const char *text, bool ends, struct span_point *ret);
/* --sort of top. */
extern const char *const options_top_words[TOP_KEYS];
int options_top(const char *word, enum top_key *ret);

#endif

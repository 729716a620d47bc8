/* SPDX-License-Identifier: MIT */
/*
 * counts: how often was each function called, and how long did that take, where the
 * target itself adds it up?
 *
 * Of `inject count`, `hist` and `top`, which show the same sums in ways of their own
 * (count.c, hist.c, top.c).
 */
#ifndef INJECTOR_COUNTS_H
#define INJECTOR_COUNTS_H

#include "injector/options/options.h"
#include "injector/reader/reader.h"
#include "trace/read/frames.h"
#include "trace/output/output.h"

/* Before functions are given ids, which are for life: 0, or an error if rings of so many
 * sub-buffers have no room for so many ids, of which earlier visits gave those known. */
int counts_fit(const struct way *, uint32_t nsub, size_t known, size_t ids);
/* Before the jumps are written: the session of a process is told what it has to know. */
void counts_prepare(const struct options *, pid_t pid, struct session *, const struct clock *);

/* Of the calls of a function of which it is known: ticks with a processor, and without one. */
struct off_sum {
	uint64_t calls, cpu, wait;
};

/* All calls up to a moment, by function id. */
struct sums {
	uint64_t *calls;
	struct off_sum *off;	/* NULL where it is not asked for */
	struct timing *timings;	/* NULL where calls are not timed */
	uint64_t ticks;		/* that moment */
};

struct counts {
	const struct options *options;
	const struct reader *reader;
	const struct reader_func *funcs;
	size_t nfuncs;
	uint64_t began;		/* ticks */
	struct sums now;
	bool recorded;		/* calls are: we add up their times */
	bool off_cpu;
	uint32_t *order;	/* ids as they are printed */
};

/* Of the functions of a session that counts; `off_cpu`: the reader tells of threads without a
 * processor, too. Options and reader outlive it. */
int counts_new(const struct options *, const struct reader *, bool off_cpu,
	       const struct reader_func *funcs, size_t nfuncs, struct counts **ret);
void counts_free(struct counts *);	/* NULL is legal */
/* Nothing is added up but what is given: each event, and what frames make of it. */
struct sink counts_sink(struct counts *);
void counts_event(struct counts *, const struct event *);
/* There are more functions now, and the old ones have their places. 0 or -ENOMEM. */
int counts_name(struct counts *, const struct reader_func *funcs, size_t nfuncs);
/* Calls of all functions together, up to now. */
uint64_t counts_calls(struct counts *);
/* Take all that all threads have added up. */
void counts_take(struct counts *);
/* The functions that were called, in the order that `compare` says: their number. */
size_t counts_sort(struct counts *, int (*compare)(const void *, const void *, void *counts));

/* Calls of a function that have ended, and so are timed. */
uint64_t timing_ended(const struct timing *);
/* So many percent of them took as long, or less: ns. It lies within a bucket, and no
 * call took longer. */
uint64_t timing_percentile(const struct timing *, const struct clock *, unsigned int percent);
uint64_t timing_average(const struct timing *, const struct clock *);
/* Where a bucket ends, in ns; UINT64_MAX: nowhere. */
uint64_t timing_to(uint32_t bucket);

/* One more call that has ended. */
void timing_add(struct timing *, const struct call *, const struct clock *);
void off_add(struct off_sum *, const struct call *);
/* hist.c: its histogram, or what --json says of it. */
void timing_print(const struct reader_func *, uint64_t calls, const struct timing *,
		  const struct off_sum *, const struct clock *, bool json, struct output *);
/* What --json says of it, less the last brace. */
void timing_json(const struct reader_func *, const char *type, uint64_t calls,
		 const struct timing *, const struct clock *, struct output *);
/* And of cpu and wait, if that was asked for. */
void off_json(const struct off_sum *, const struct clock *, struct output *);
/* count.c, hist.c: the result, from what was taken last. */
void count_print(struct counts *, struct output *);
void hist_print(struct counts *, struct output *);

#endif

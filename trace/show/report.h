/* SPDX-License-Identifier: MIT */
/* report: how often was each function called, and how long did that take? */
#ifndef TRACE_REPORT_H
#define TRACE_REPORT_H

#include "symbols/names/shorten.h"
#include "trace/read/view.h"

enum report_key {
	REPORT_TOTAL,		/* in it and in what it calls; of recursive calls only
				 * the outermost one counts */
	REPORT_SELF,		/* in it alone */
	REPORT_CPU, REPORT_WAIT,	/* of the total, with a processor and without one, of
				 * calls of which that is known */
	REPORT_CALLS,
	REPORT_AVERAGE, REPORT_MIN, REPORT_MAX,
	REPORT_P50, REPORT_P99,	/* to a sixteenth */
	REPORT_KEYS,
};

/* What only recordings have that tell when threads had no processor: a bit for each key. */
#define REPORT_OFF_CPU (1u << REPORT_CPU | 1u << REPORT_WAIT)

/* All times in ns, of calls of which both sides are known or that were still open. */
struct report_line {
	const struct reader_func *func;	/* NULL: the others, of which there are `nothers` */
	const char *name, *module;
	/* With values by which calls are told: "(fd=3) = 8", to stand behind the name, and the text
	 * of each, as struct group has them. Else "" and NULL. */
	const char *shown, *texts;
	size_t nothers;
	bool timed;		/* else the calls are all that is known */
	uint64_t parts;		/* calls of which a part is in the record */
	bool has_wait;		/* else REPORT_CPU and REPORT_WAIT are not known */
	uint64_t unknown;	/* calls of the total that are not in these two */
	uint64_t v[REPORT_KEYS];
};

/* Is it known, of a key but REPORT_CALLS? */
static inline bool report_knows(const struct report_line *l, enum report_key key)
{
	return l->timed && (l->has_wait || !(REPORT_OFF_CPU & 1u << key));
}

/* The functions that were called, in the order of `sort`, the largest first. Names are
 * those of the view. */
struct report {
	struct report_line *lines;
	size_t n;
	enum report_key sort;
	bool off_cpu;		/* the recording tells when threads had no processor */
	uint64_t lost;		/* events */
	uint64_t disarmed;	/* functions */
};

/* The words of --sort; -EINVAL, with a message, if it is none of them. */
int report_key(const char *word, enum report_key *ret);
/* Does a recording tell what is to be sorted by? 0, or -EINVAL with a message. */
int report_sorts(const struct view *, enum report_key);
const char *report_word(enum report_key);
/* Runs the view, which stays for the names. With values by which it tells calls: a line for each
 * group, and none for functions that have none of them. `most` (0: all of them): so many lines,
 * and one for all the others. */
int report_make(struct view *, enum report_key sort, size_t most, struct report *ret);
void report_clear(struct report *);
/* Show both by short names, which `made` owns: the same function by the same one. */
int report_shorten(struct report *, struct report *, struct strings *made);

void report_print(const struct report *, struct output *);
/* What `now` has in comparison to `before`: functions are the same by name and module (and
 * values). `most` as above. */
struct report_pair {
	const struct report_line *before, *now;	/* either may be NULL */
	uint64_t change;	/* of the key, absolute */
};

struct report_pairs {
	struct report_pair *v;
	size_t n;
	struct report_line others[2];	/* to which the last one may lead */
	uint64_t lost, disarmed;	/* events and functions, of both */
};

int report_compare(const struct report *before, const struct report *now, enum report_key sort,
		   size_t most, struct report_pairs *ret);
void report_pairs_clear(struct report_pairs *);
void report_print_diff(const struct report_pairs *, struct output *);

/* report_json.c: the same as an object in each line, and one of what was lost. `by`: the names of
 * the values. */
void report_json(const struct report *, const char *const *by, size_t nby, struct output *);
void report_json_diff(const struct report_pairs *, const char *const *by, size_t nby,
		      struct output *);

#endif

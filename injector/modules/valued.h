/* SPDX-License-Identifier: MIT */
/* valued: of which functions are values to be read, and which? */
#ifndef INJECTOR_VALUED_H
#define INJECTOR_VALUED_H

#include "injector/modules/select.h"
#include "payload/abi.h"
#include "values/compile.h"
#include "values/condition.h"
#include "values/pack.h"
#include "trace/read/spans.h"

/* Of one function. */
struct valued {
	struct packed packed;		/* its signature and plan */
	struct capture_plan *plan;	/* the plan for the payload */
	struct condition *asked;	/* of what inject itself is to judge as it reads; NULL */
	size_t size;			/* bytes of that, and of the condition behind it, if there
					 * is one; 0: nothing is to be read */
};

/* A signature by hand, as values/hand.h has it. */
struct hand_spec {
	const char *text;
	size_t name;			/* length of the function's name */
};

struct valued_options {
	bool known;			/* of functions whose signatures are known */
	bool usdt;			/* of places for tracers */
	const struct hand_spec *specs;	/* of these, before all else */
	size_t nspecs;
	struct compile_options compile;
	const char *when;		/* a condition for all calls; NULL: none */
	/* It is for calls of these only; none: of all. */
	const struct span_point *points;
	size_t npoints;
	const struct modules *mods;	/* for that */
	bool left;			/* no inject will be there */
	bool outside;			/* all calls are recorded: inject judges them as it reads */
	bool tells_cpu;			/* the process can tell which processor it runs on */
	bool entry_only;		/* no call's end is recorded */
	bool later;			/* what a signature by hand is of may come, or has come */
};

static inline bool valued_any(const struct valued_options *o)
{
	return o->known || o->usdt || o->nspecs || o->when;
}

/* Set `valued` of the probes of which values are to be read, which the selection then owns. 0; a
 * negative error if memory is out, if a signature by hand is of no function that is probed
 * (unless `later`), or if the condition is wrong, or none of them has what it asks for: those that
 * do not are refused. */
int valued_choose(const struct valued_options *, struct selection *);
/* Make the payload's plan of it, and of a condition (NULL: none), which lies behind that. 0, also
 * if there is nothing to do; or -ENOMEM. */
int valued_plan(const struct read_plan *, const struct condition *, struct valued *ret);
/* Is anything to be read of its calls? */
bool valued_is_read(const struct placed_probe *);
/* Is C called at its entry with the registers, to read values or callers? */
bool valued_calls_c(const struct placed_probe *);
/* And at its exit, too, if its calls are all recorded? */
bool valued_exit_calls_c(const struct placed_probe *);
/* Have the callers taken of all calls that can be. */
void valued_choose_callers(struct selection *);
/* Will the payload be asked before the process puts itself under a seccomp filter? Only then memory
 * is read by a system call. */
bool valued_guarded(const struct selection *);
/* Bytes that the plans of all of them need in the session. */
uint64_t valued_size(const struct selection *);

#endif

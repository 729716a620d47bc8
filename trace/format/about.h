/* SPDX-License-Identifier: MIT */
/* about: what is to be known of a recording beside its events? */
#ifndef TRACE_ABOUT_H
#define TRACE_ABOUT_H

#include "trace/format/callers.h"
#include "trace/format/cost.h"
#include "trace/format/event.h"
#include "trace/format/ticks.h"

struct about_module {
	const char *path;
	char build_id[41];	/* hexadecimal; "" if it has none */
	uint64_t base;		/* run-time address minus link-time address */
};

/* The call for which a snapshot was taken; begin 0: none. */
struct about_slow {
	uint64_t func, tid;
	uint64_t begin, end;	/* ticks */
};

/* Which calls were recorded, of those that were made; zeros: all. */
struct about_filter {
	uint64_t min_duration;	/* ns */
	uint64_t depth;
	const char *when;	/* a condition, or NULL */
};

struct about {
	uint8_t uuid[16];
	const char *host, *program, *exe;	/* program: its short name */
	int32_t pid;
	struct clock clock;	/* as far as is known by now */
	uint64_t begin, end;	/* ticks; end 0: not ended properly */
	uint64_t failed;	/* the error that has ended it; 0: none */
	uint64_t left_free;	/* it was ended with so many bytes of the disk free, to leave
				 * them; 0: it was not */
	/* Indexed by function id. */
	const struct reader_func *funcs;
	size_t nfuncs;
	const struct about_module *modules;
	size_t nmodules;
	const struct caller *callers;	/* the addresses that stacks are made of, sorted */
	size_t ncallers;
	uint64_t probed, refused;	/* functions */
	struct probe_cost cost;	/* of a probe */
	uint64_t pause_ns;	/* longest stop of the process */
	uint64_t lost;		/* events, all of them */
	bool gone, removed, verified;	/* of the process, its probes and its code */
	uint64_t disarmed;	/* of the probed functions, those taken out meanwhile, for they took
				 * too much of a thread's time */
	bool kept;		/* of each thread the last is there, and not all of the
				 * time from `begin` to `end` */
	struct about_slow slow;
	struct about_filter filter;
	uint64_t first_funcs;	/* those that were probed from the begin on; 0: all */
	/* Events with fields, in TSDL, to stand behind all else; NULL: there are none. Of the
	 * writer. */
	const char *fields;
	/* Of the writer. */
	const uint64_t *packets;	/* written so far, by lane */
	size_t lanes;
	uint64_t events;	/* entries, exits and marks written */
	uint64_t nbefore;	/* of them ends of calls that began before; more than there
				 * are events: not known */
	bool rotated;		/* the oldest ones have been dropped */
	bool off_cpu;		/* it tells when threads had no processor */
};

#endif

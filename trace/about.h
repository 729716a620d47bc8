/* SPDX-License-Identifier: MIT */
/* about: what is to be known of a recording beside its events? */
#ifndef TRACE_ABOUT_H
#define TRACE_ABOUT_H

#include "trace/cost.h"
#include "trace/event.h"
#include "trace/ticks.h"

struct about_module {
	const char *path;
	char build_id[41];	/* hexadecimal; "" if it has none */
	uint64_t base;		/* run-time address minus link-time address */
};

struct about {
	uint8_t uuid[16];
	const char *host, *program, *exe;	/* program: its short name */
	int32_t pid;
	struct clock clock;	/* as far as is known by now */
	uint64_t begin, end;	/* ticks; end 0: not ended properly */
	/* Indexed by function id. */
	const struct reader_func *funcs;
	size_t nfuncs;
	const struct about_module *modules;
	size_t nmodules;
	uint64_t probed, refused;	/* functions */
	struct probe_cost cost;	/* of a probe */
	uint64_t pause_ns;	/* longest stop of the process */
	uint64_t lost;		/* events, all of them */
	bool gone, removed, verified;	/* of the process, its probes and its code */
	/* Of the writer. */
	const uint64_t *packets;	/* written so far, by lane */
	size_t lanes;
	uint64_t events;	/* entries, exits and marks written */
	bool rotated;		/* the oldest ones have been dropped */
};

#endif

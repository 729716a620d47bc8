/* SPDX-License-Identifier: MIT */
/* trace_impl: what the pieces of a visit share: attach.c, trace*.c and start.c only. */
#ifndef INJECTOR_TRACE_IMPL_H
#define INJECTOR_TRACE_IMPL_H

#include "arch/arch.h"
#include "injector/launch/launch.h"
#include "injector/options/options.h"
#include "injector/patch/commit.h"
#include "injector/patch/remove.h"
#include "injector/session/callers.h"
#include "injector/session/spills.h"
#include "injector/show/cost.h"
#include "injector/show/describe.h"
#include "injector/show/follow.h"
#include "injector/show/overhead.h"
#include "injector/switches/switches.h"
#include "injector/verbs/family.h"
#include "injector/verbs/grow.h"

struct trace {
	const struct options *opt;
	pid_t pid;
	struct launch launch;	/* if we have started it */
	bool held;		/* and it has not begun */
	uint64_t began;		/* monotonic ns: when we began to follow, be it
				 * another program that it executed then */
	struct target target;
	struct modules mods;
	struct selection sel;
	const struct way *way;	/* to record */
	char *when;		/* what is asked of calls, if that is more than -w; NULL */
	struct islands islands;
	struct arena_need *needs;
	struct callers_tables callers;	/* of what is mapped, if callers are taken */
	struct naming naming;	/* of these; */
	struct caller_names names;	/* and how they are asked for */
	uint32_t slots;
	struct infection inf;
	struct live live;
	struct reader *reader;
	struct switches *switches;	/* with --off-cpu; NULL: they cannot be had */
	bool off_cpu;		/* asked for, and nothing speaks against it yet */
	struct output *out;	/* NULL when recording */
	struct description description;	/* when recording */
	char *directory;	/* that this program's recording goes to */
	unsigned int program;	/* which one this is, with --follow-exec; from 1 */
	struct family *family;	/* with --follow-exec and --follow-fork together; or NULL */
	bool relative;		/* this process was not named: it is such a child, and
				 * may come to nothing without a word */
	struct cost cost;	/* when recording, or starting */
	int nthreads;
	uint64_t pause;		/* of the commit */
	bool committed;
	bool unmapped;		/* the addresses of the rings were given back, or kept */
	int64_t cpu_at;		/* rseq_place(), where a condition may need it; 0 */
	uint32_t known_funcs;	/* ids that an earlier visit has given */
	bool traps;		/* asked for, and nothing speaks against it */
	uint64_t caught;	/* signals that the target handles */
	struct grow grow;
	struct overhead overhead;
	struct spills spills;
	struct removal others;	/* how forked children are found */
	struct follow *follow;
	int file;		/* that is to hold its session; 0: none */
	bool left;		/* it goes on without us */
	bool nothing;		/* no function matched, or every one was refused */
	ino_t session_ino;
	struct text_diffs before;	/* code that differed before we came */
};

/* attach.c: steps 0 to 9. 0 or -errno; then no jump stands. */
int attach(struct trace *);
/* What is asked for, as plans are made for it. */
void trace_select(const struct trace *, struct select_options *ret);

/* What the reader pairs it judges, too, and all else with it: all calls are recorded. */
static inline bool trace_asks_outside(const struct trace *t)
{
	return (t->opt->when || t->when) && t->way != &way_sifted;
}

/* Can code of the process tell which processor it runs on? */
static inline bool trace_tells_cpu(const struct trace *t)
{
	return arch_host()->tells_cpu || t->cpu_at;
}

/* trace.c: all of one program, from its first probe to its last; the exit status. */
int trace_program(struct trace *, bool start);
/* After that: does the process go on with another program, which is to be followed? */
bool trace_goes_on(struct trace *);
void trace_clear(struct trace *);

/* trace_gone.c: the memory behind our descriptor is that of the program that we look at: it
 * is gone once the process has executed another. Wherever one reads. */
bool trace_left(void *trace);
/* Why is the program that we look at no more? NULL: it is. What of it cannot be
 * read just now is no sign of its end. */
const char *trace_gone(struct trace *, const struct follow *);
/* The same after `err`: what has ended a thread that we held, an execve of another one or a
 * kill, may not be over yet. */
const char *trace_gone_by(struct trace *, const struct follow *, int err);
/* Whatever failed: of a program that is gone, it failed because of that. */
int trace_blame_end(struct trace *, int err);

/* trace_describe.c: what a recorded call takes in this process, as it was measured before. */
struct probe_cost trace_cost(const struct trace *);
/* When recording, before the jumps are written: the first call may come, and the process
 * end, before we are told that they stand. 0 or -errno. */
int trace_describe(struct trace *);

/* trace_say.c: what is said of it. */
/* What may a recording without a limit come to take? */
void trace_say_room(const struct options *);
void trace_say_banner(const struct trace *);
/* Of the target's calls that our stops have disturbed. */
void trace_say_disturbed(const struct trace *);

/* start.c: the probes are in, and we go: the process records by itself. 0 or -errno;
 * then it is as before the call. */
int start_leave(struct trace *);
/* Before the jumps are written: how much of its time the process may lose by them,
 * and a call of the functions that are watched may take, which the payload looks after.
 * 0 or -errno. */
int start_limits(struct trace *);
/* Before the attach: if a directory is named, the file there that is to hold the
 * session; and afterwards: if that did not come to be, it goes again. */
int start_begin(struct trace *);
void start_end(struct trace *);
/* Bytes per thread, 0: the usual. */
uint64_t start_buffer(const struct trace *);
/* Room for what later visits are to know of the session. */
uint64_t start_room(const struct trace *);

#endif

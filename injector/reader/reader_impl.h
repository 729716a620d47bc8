/* SPDX-License-Identifier: MIT */
/* reader_impl: what the pieces of the reader share. */
#ifndef INJECTOR_READER_IMPL_H
#define INJECTOR_READER_IMPL_H

#include "injector/log/clock.h"
#include "injector/proc/namespace.h"
#include "injector/reader/reader.h"
#include "injector/session/ways.h"

enum {
	MAX_RINGS = 1 << 16,
	MAX_OPEN = 1 << 20,	/* calls open on one stack */
	MAX_STACKS = 64,	/* of one thread; the least used one is forgotten */
	MAX_FIBERS = 1 << 15,	/* of the process, coroutines included; of those that
				 * are kept near each other the one longest unused is
				 * forgotten. A power of 2 */
	HOLE_PASSES = 3,	/* how long a word may be reserved and unwritten */
};

struct open_call {
	uint32_t func;
	uint32_t depth;		/* if has_depths() */
	uint64_t begin;		/* of a call that was told when it had been open for some time */
	struct undecided *held;	/* it may pass what is asked here at its end; owned. NULL: that is
				 * decided: */
	bool unwanted;		/* it does not, and is not told */
	uint32_t outer;		/* of one that is told: open_calls.told without it */
	uint32_t copy;		/* of an inlined function: the id of the mark where it has begun;
				 * 0: it is a call, of which the payload has a frame */
	uint32_t at;		/* of a copy: EXT_MARK's place on the stack */
};

/* The open calls of one stack, as the payload's frame table has them. */
struct open_calls {
	uint32_t number;	/* EXT_STACK's */
	struct open_call *calls;
	size_t n, cap;
	size_t ncopies;		/* among these */
	uint32_t told;		/* which is the innermost that is told, from 1 on; 0: none is */
	uint32_t *held;		/* which of them are, the outermost first */
	size_t nheld, held_cap;
	uint64_t unseen;	/* open below those: begun before what a ring still
				 * holds */
	uint64_t used;		/* at last use, value of the lane's `switches`; a
				 * fiber's: of the reader's */
	int32_t pid;		/* a fiber's: its process, the host's view */
};

/* Fibers that any of a few places may have, from a place on. */
enum { FIBER_PLACES = 16 };

/* One ring, as we read it (a trace directory has lanes of its own: trace/format/layout.h). `at`
 * and `pos` are where we are. */
struct lane {
	struct ring *ring;
	uint8_t *buffers;
	bool claimed;
	bool forked;		/* its process is not the target, but a child */
	bool gone;		/* its thread is: nothing will be added */
	bool ends;		/* the item is that it is gone, and all else was read */
	uint64_t gone_at;	/* ticks */
	int memory;		/* of a forked process: that of the program which has
				 * the ring; negative: it was not opened */
	bool unnamed;		/* its thread could not be told yet: `tid` is its own view */
	bool open;		/* the header of sub-buffer `at` was read */
	bool ready;		/* `word` and `tsc` are the next item */
	bool begins;		/* the item is the begin of a sub-buffer */
	bool cut;		/* that is the first which the ring still holds */
	bool waited;		/* the item had to wait for a later pass */
	uint8_t hole_passes;
	int32_t pid, tid;	/* host's view */
	uint32_t thread;
	uint64_t generation;
	uint64_t head;		/* as at the begin of this pass */
	uint64_t at;		/* sub-buffers given back, the ring's tail */
	uint16_t *places;	/* of sub-buffer n at n % nsub, from at to head */
	uint32_t place;		/* of sub-buffer `at`, while it is open */
	uint32_t touched;	/* places whose memory is there, from the first on */
	size_t pos;		/* the next word of sub-buffer `at` */
	uint64_t epoch;
	uint64_t word, tsc;
	uint64_t last;		/* time of the last item: they never go back */
	bool told;		/* of a session that goes on: its pending calls were */
	uint64_t looked, ran;	/* when its pending calls were looked at, ticks; and for how long
				 * its thread had run then, ns, 0: that is not known */
	/* Of the open sub-buffer's header. */
	uint64_t header_lost;
	uint32_t header_depth, header_stack, header_untold;
	int32_t header_tid;
	int32_t owner;		/* whose the ring is by now, as it says itself */
	/* Dropped entries and exits: before we came, now, told as an event,
	 * and as the words of the ring have it. */
	uint64_t base_entries, base_exits;
	uint64_t lost_entries, lost_exits;
	uint64_t told_lost, reported;
	struct open_calls *stacks;
	size_t nstacks, stacks_cap, current;
	uint32_t fiber;		/* the number of the current one, if that is
				 * STACK_SHARED; else 0 */
	size_t fiber_at;	/* where it was in the reader's fibers */
	uint64_t switches;
	/* What was read of the call whose record comes next. */
	uint8_t *capture;	/* READS_CAPTURE_MAX bytes; NULL: nothing was read yet */
	size_t ncapture;
	uint32_t captured;	/* the function */
	/* Of the call whose record is word `registers_end` of sub-buffer `registers_at`. */
	uint64_t registers[KEPT_ARGUMENTS];
	size_t nregisters, registers_end;
	uint64_t registers_at;
	uint64_t *callers;	/* CALLERS_MOST; NULL: none were read yet */
	uint8_t ncallers, callers_cut;
	bool called;		/* they are of the next call, of this function: */
	uint32_t callee;
};

struct reader {
	uint8_t *map;
	size_t size;
	struct session *session;
	pid_t pid;		/* the target; 0: no thread is looked for */
	uint64_t over;		/* ticks: since then it is gone; 0: it is not */
	bool forks;		/* forked children have rings, too */
	bool started;		/* read as it is, from its begin */
	bool kept;		/* rings hold the last, of one thread after another */
	const struct way *way;	/* to record: what they hold */
	struct namespace ids;	/* of the target's threads, and its children's */
	const struct reader_func *funcs;
	size_t nfuncs;
	uint64_t rings_off, ring_stride;
	uint32_t nrings, nsub, sub_size;
	struct lane *lanes;	/* nrings */
	uint16_t *places;	/* of the lanes, nsub each */
	struct lane **heap;	/* those with an item, earliest first */
	size_t nheap;
	struct clock clock;
	uint32_t next_thread;
	struct open_calls fibers[MAX_FIBERS];	/* near the place of their number */
	uint64_t switches;
	struct reader_stats stats;	/* without what lanes and session count */
	uint64_t base_entries, base_exits;	/* of the session's own counters */
	uint64_t next_look;	/* at the threads, monotonic ns */
	bool pending;		/* open calls are looked for that are not recorded yet */
	bool names;		/* conditions ask what threads are called */
	uint64_t next_names;	/* when to look at all of them again, monotonic ns */
	uint64_t next_pending;	/* look at pending calls, monotonic ns */
	uint64_t leaves;	/* ticks: since then the probes go; 0: they stand */
	unsigned fill;
	int64_t limit;		/* of events in one drain, */
	uint64_t most;		/* and of ns; 0: none */
	bool cut;		/* the last one came to that */
	/* By function id: what the session says is to be read, as it was when it was first
	 * needed; NULL: it was not yet. */
	struct read_plan **plans;
	size_t nplans;
	struct reads_state read;
	size_t held;		/* bytes of calls that are */
	uint64_t next_held;	/* look at them, monotonic ns */
	struct mixture *mixture;	/* when threads have processors; NULL: not asked for */

	/* Of the drain that runs. */
	bool last;
	bool frozen;		/* the last look at the rings was taken: a
				 * target that goes on writing is not followed */
	uint64_t now;
	uint64_t reached;
	int (*each)(void *ctx, const struct event *);
	void *ctx;
	int64_t delivered;
	int err;		/* what `each` said */
};

/* Does each record on this stack say how deep it lies? (payload/abi.h: STACK_GOROUTINE) */
static inline bool has_depths(uint32_t stack)
{
	return stack & STACK_SHARED && stack & STACK_GOROUTINE && stack < STACK_LEAVES;
}

static inline struct open_calls *current(struct reader *r, struct lane *l)
{
	return l->fiber ? &r->fibers[l->fiber_at] : &l->stacks[l->current];
}

/* reader_lane.c: from a ring to items. */

void lane_claim(struct reader *, struct lane *);
/* Take the ring's counters as they are now. */
void lane_snapshot(struct reader *, struct lane *);
/* Find the next item: false if there is none now. */
bool lane_peek(struct reader *, struct lane *);
/* Deliver the item that lane_peek found. */
void lane_take(struct reader *, struct lane *);
/* All that the ring holds was read: whose it is by now may have recorded nothing yet. */
void lane_own(struct reader *, struct lane *);
/* Deliver what was dropped since the last sub-buffer began. */
void lane_tell_lost(struct reader *, struct lane *, uint64_t tsc);
/* Nothing will come from the thread that had the ring: it has ended at `tsc`. */
void lane_end(struct reader *, struct lane *, uint64_t tsc);

/* reader_values.c: what was read of the call whose record comes next. */

/* The item says it by its `n` body words: an EXT_VALUES; or registers, of which the function's plan
 * makes values once its record tells which that is. */
void values_take(struct reader *, struct lane *, const uint64_t *body, size_t n);
void registers_take(struct reader *, struct lane *, const uint64_t *body, size_t n);
void registers_read(struct reader *, struct lane *, uint32_t func, bool at_exit);
void plans_forget(struct reader *);

/* reader_asked.c: conditions that are asked here. */

/* A call begins on that stack: is it unwanted, as far as is known by now, or held? */
void asked_entry(struct reader *, const struct lane *, const struct open_calls *,
		 struct open_call *);
/* Does one pass of which only the entry is known? */
bool asked_mark(struct reader *, const struct lane *, const struct open_calls *, uint32_t func);
/* Does one that was held pass, at its end? */
bool asked_passes(struct reader *, const struct lane *, const struct open_call *, bool returned);
/* Will an open call pass for certain, however it ends, of which these bytes were read at its entry?
 * What its thread is called is added to the facts. */
struct condition_facts;
bool asked_open(struct reader *, const struct lane *, const struct condition *,
		const uint8_t *held, size_t n, struct condition_facts *);
/* Will it, however it ends, for it has been open up to `now`? */
bool asked_will_pass(struct reader *, const struct open_call *, uint64_t now);
/* Has it been open for so many ticks? */
bool asked_has_been(const struct open_call *, uint64_t now, uint64_t ticks);
/* What is told of its begin. */
void asked_told(const struct open_call *, struct event *begun);
/* It is not held any more. */
void asked_forget(struct reader *, struct open_call *);
/* `lost`: the begin of a call was read in vain. */
void asked_lose(struct reader *, bool lost);

/* reader_tell.c: what is told. */

/* An event of now on the current stack. */
struct event tell_of(const struct reader *, const struct lane *, enum event_kind, uint32_t func);
void tell_event(struct reader *, const struct event *);
void tell_one(struct reader *, struct lane *, enum event_kind, uint32_t func, uint64_t lost);

/* reader_held.c: calls that are held. */

/* One that was has ended on the current stack, and passes. */
void held_ended(struct reader *, struct lane *, struct open_call *, enum event_kind);
/* One is told, within all that are. */
void held_not(struct open_calls *, struct open_call *);
/* Now and then, when all else is told: those that have been open for long, and will pass. */
void held_look(struct reader *);

/* reader_calls.c: from items to well-formed events. */

void calls_entry(struct reader *, struct lane *, struct open_call);
/* The same of one that has begun earlier, at `begin`, unless that is known. */
void calls_begun(struct reader *, struct lane *, uint32_t func, uint64_t begin);
void calls_exit(struct reader *, struct lane *, struct open_call);
/* A call of a function of which only entries are probed. */
/* At EXT_MARK's place on the stack. */
void calls_mark(struct reader *, struct lane *, uint32_t func, uint32_t at);
/* Only the `n` outermost calls of the current stack are open any more; the
 * others ended as `kind` says. The payload counts those whose entries it has
 * recorded, as we do. */
void calls_remain(struct reader *, struct lane *, uint64_t n, enum event_kind kind);
/* On the current stack `n` calls are open whose begin was not recorded. */
void calls_begin_within(struct reader *, struct lane *, uint64_t n);
void calls_stack(struct reader *, struct lane *, uint32_t number);
/* The current stack is as it was left, or there was none yet: the first one. */
void calls_resume(struct reader *, struct lane *);
/* The thread is gone, and its stacks with it. */
void calls_end(struct reader *, struct lane *);
/* So are the fibers of its process. */
void calls_end_fibers(struct reader *, struct lane *);
/* Nothing is told of those of a stack. */
void calls_forget(struct reader *, struct open_calls *);

/* reader_switches.c: where there is a mixture. */

/* Take what there is by now: after the rings were looked at, so that it has all that was before
 * what they hold. 0 or -ENOMEM. */
int switches_look(struct reader *);
/* What is to be told before an event, and after it. */
void switches_before(struct reader *, const struct event *);
void switches_after(struct reader *, const struct event *);
/* What may be told at the end of a pass. */
void switches_settle(struct reader *);
void switches_forget(struct reader *);

/* reader_pending.c: deliver calls that have been open for long, and are not recorded yet. */
void pending_look(struct reader *);

/* reader_names.c: tell threads what they are called. */
void names_look(struct reader *);

/* reader_counts.c */

/* The thread that has the ring, which is that of `owner`, has ended: so have its calls. */
void counts_end(const struct reader *, const struct lane *, pid_t owner);

/* reader_threads.c: whose ring is it, and is that thread alive? */

/* Whose ring is it? Sets the lane's pid and tid, the host's view of what the ring
 * says, and its `owner`. */
void threads_name(const struct reader *, struct lane *, int32_t owner);
/* Set `gone` of the lanes whose thread has ended, or runs another program. */
void threads_look(struct reader *);
/* The same for one lane, whose thread was not known before: in the last pass. */
void threads_look_at(struct reader *, struct lane *);
/* Does no thread of that process run the program any more that has had the ring? */
bool threads_is_over(const struct reader *, struct lane *);
/* What was opened to ask that. */
void threads_forget(struct lane *);
/* The next thread may well take this ring, which was freed; and may look for one at once. */
void threads_offer(struct reader *, const struct lane *);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * abi: everything that the injector and the payload share: one memfd, file or nameless memory
 * (the session), one private region of the target (the threads), and one page of
 * code that loads the payload. Fixed widths, offsets instead of pointers,
 * sizes asserted (abi.c). For the payload, C of the injector, and (#defines) assembly.
 * The session, in the order of that memory:
 *
 *	struct session		one page, at 0
 *	gates			a byte for each function id, at GATES_OFF; what follows
 *				begins behind all that there may be
 *	islands			a word for each page of islands, at ISLANDS_OFF
 *	struct slot[]		the journal, at slots_off
 *	notes			for later visits, at notes_off; not for the payload
 *	plans			what is to be read of calls, at plans_off, if anything is: see
 *				struct capture_plan
 *	captures		nrings of CAPTURE_SIZE bytes, at captures_off, in which threads
 *				put together what they read
 *	callers, walks		for walking stacks, at callers_off and walks_off: callers.h
 *	sides			nrings of TIMING_SIDES bytes, at sides_off, if calls are
 *				sifted: of each frame of the thread
 *	ring 0, ring 1, ...	at rings_off, ring_stride apart; each is a
 *				struct ring (one page) and nsub sub-buffers of
 *				sub_size bytes, each of which begins with a
 *				struct subbuf
 *	bank 0, bank 1, ...	at banks_off, if there are any; each is bank_subs
 *				further sub-buffers, of the ring that has taken it
 *
 * The threads: nrings struct thread of THREAD_SIZE bytes, private, anonymous,
 * MADV_WIPEONFORK. Thread i writes ring i, and only the owner of thread i does.
 *
 * A word that one thread or side writes while another loads it is marked by its order, of which
 * docs/order.md has the reasons:
 *
 *	[release]	stored with release, loaded with acquire
 *	[by WORD]	plain; stored before WORD is, with release, and loaded after that was, with
 *			acquire
 *	[any]		whole or not at all, and in no order to other words
 *	[atomic]	changed by atomic operations, in no order to other words
 *
 * What has no mark is one side's, or was written before the other could look: before hello,
 * or with all threads stopped.
 */
#ifndef PAYLOAD_ABI_H
#define PAYLOAD_ABI_H

#include "payload/page.h"

#define ABI_VERSION 36

/* Offsets that assembly uses; abi.c asserts them. */
#define THREAD_CUR 0
#define THREAD_END 8
#define THREAD_LIMIT 16
#define THREAD_BIAS 24
#define THREAD_TOP 32
#define THREAD_LO 40
#define THREAD_FRAMES_END 48
#define THREAD_OWNER 56
#define THREAD_RING 64
#define THREAD_FULL_TAIL 72
#define THREAD_READER 80
#define THREAD_TP 88
#define THREAD_TID 96
#define THREAD_GOROUTINE 104
#define THREAD_COUNTS 112
#define THREAD_COUNTED 120
#define THREAD_SIDES 128
#define THREAD_TIMINGS 136
#define THREAD_TIMED 144
#define THREAD_SCALE 152
#define THREAD_LEAST 160
#define THREAD_DEEPEST 252
#define SESSION_PLANS_OFF 752
#define SESSION_PLANS_SIZE 760
#define SESSION_PLANS_FUNCS 776
#define SESSION_PLAN_CHANGES 844
#define SESSION_PLANS_AT 848
#define RING_TAIL 24
#define RING_LOST_ENTRIES 32
#define RING_LOST_EXITS 40

/* thread.end where calls are timed (see timing.h); while the ring is full: what is dropped is
 * counted, until ring.tail moves; and where calls are sifted (see sieve.h). */
#define END_TIMED 1
#define END_FULL 2
#define END_SIEVE 3

/* In session.reader, set by the kernel when the thread has ended that the word
 * names (FUTEX_OWNER_DIED); READER_GONE_BYTE is the byte that it stands in. */
#define READER_GONE 0x40000000
#define READER_GONE_BYTE 3
#define READER_GONE_BIT 0x40

/* In a word of kind REC_NONE for slow_entry: the frame is of a lost entry; or pending, or of a call
 * that was refused: then the function stands in the word as in any. */
#define SETTLE_LOST 4
#define SETTLE_PENDING 8
#define SETTLE_FAILED 16

/* Offsets in struct arena_header (arch/<name>/hot.S begins with one). */
#define ARENA_TLS 0
#define ARENA_SLOW_ENTRY 8
#define ARENA_SLOW_EXIT 16
#define ARENA_SLOW_MARK 24
#define ARENA_TID 32
#define ARENA_THREADS 40
#define ARENA_HOMES 48
#define ARENA_PLACES 56
#define ARENA_SLOW_GOROUTINE 64
#define ARENA_SLOW_COUNT 72
#define ARENA_SLOW_WATCH_ENTRY 80
#define ARENA_SLOW_WATCH_EXIT 88
#define ARENA_SLOW_TIGHT 96
#define ARENA_SLOW_FIRST 104
#define ARENA_SLOW_FIND 112
#define ARENA_FIRST 120
#define ARENA_STACKS 168
#define ARENA_SLOW_VALUES_ENTRY 176
#define ARENA_SLOW_VALUES_EXIT 184
#define ARENA_SLOW_GUARD 192
#define ARENA_SESSION 200
#define ARENA_HEADER 208

/*
 * Where a call may have no stack to speak of, what it needs lies in a spill frame of its
 * thread: in a spill area, which is its own for life, and is never wiped or cleared. The first
 * frame is at the area's end; each has what the slow path takes of a stack below it.
 *
 * An area's first word says whose it is; 0: no thread's yet. That word's last byte is the
 * injector's, which gives back the areas of threads that have ended: SPILL_AREA_ASKED while it
 * makes sure, when no thread takes the area for its own; then SPILL_AREA_BACK, and any thread may
 * have it.
 */
#define SPILL_AREA_SIZE 16384
#define SPILL_AREA_STATE 7		/* the byte */
#define SPILL_AREA_ASKED 1
#define SPILL_AREA_BACK 2
#define SPILL_SIZE 128
#define SPILL_STEP 1024

/* While the gate of a function is 0, none of its calls comes further than its stub. [any]: what a
 * stub needs besides is there before the jump to it. */
#define GATES_OFF PAGE
#define GATE_OPEN 1
#define GATE_GUARDS 2	/* open, and to stay so: the function tells that a filter comes (guard.c) */
#define ISLANDS_OFF (GATES_OFF + (1 << REC_FUNC_BITS))
#define ISLANDS_MOST (1 << 16)
#define SLOTS_OFF (ISLANDS_OFF + ISLANDS_MOST * 8)

#define SUBBUF_SIZE 65536	/* at most */
#define SUBBUFS_MOST 16384	/* of one ring, and its bank */
#define THREAD_SHIFT 17
#define THREAD_SIZE (1 << THREAD_SHIFT)

#include "payload/records.h"
#include "payload/homes.h"
#include "payload/sieve.h"
#include "payload/timing.h"

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

#include "payload/callers.h"
#include "payload/captures.h"
#include "payload/slot.h"
#include "payload/traps.h"
#include "payload/watch.h"

#define SESSION_MAGIC 0x6e6f697373656a69ull	/* "ijession" */
#define THREAD_MAGIC 0x64616572687469ull
#define ARENA_MAGIC 0x31616e6572616a69ull	/* "ijarena1" */

enum session_state {
	SESSION_NEW = 0,
	SESSION_READY = 1,	/* the payload has answered hello */
	SESSION_CLOSED = 2,	/* removed, or its reader has ended: nothing is
				 * recorded any more */
};

/* A region of executable memory near one module: a struct arena_header and the
 * recording routines, then stubs (stub.h). Never writable: the injector writes it
 * through /proc/PID/mem. Immutable once used. */
struct arena {
	uint64_t base, size;	/* in the target */
	uint64_t used;		/* bytes, from base; a stub is never recycled */
	uint64_t module_lo, module_hi;	/* the module that it was made for */
};

#define SESSION_ARENAS 48

/* What becomes of calls. */
enum counting {
	COUNT_NONE = 0,		/* they are recorded */
	COUNT_CALLS = 1,	/* counted, and nothing else: see struct ring */
	COUNT_TIMES = 2,	/* their durations are counted: see timing.h */
	COUNT_SIFTED = 3,	/* those are recorded that pass: see sieve.h */
};

/*
 * What the list of islands says of a page, in the bits below its address. The thread that is to
 * map it writes down that it has, so that this is known whatever dies: see infect_islands.c.
 */
enum island_state {
	ISLAND_NONE = 0,	/* it could not be mapped, or is unmapped again */
	ISLAND_WANTED = 1,	/* is to be mapped */
	ISLAND_MAPPED = 2,
	ISLAND_UNWANTED = 3,	/* is to be unmapped */
};

struct session {
	uint64_t magic;		/* SESSION_MAGIC, written last */
	uint32_t abi;		/* ABI_VERSION */
	uint32_t generation;	/* counts the visits to this process */
	uint8_t build_id[20];	/* of the payload */
	uint32_t state;		/* enum session_state. [release] of both sides */
	uint64_t size;		/* of the memfd; of what is kept of it, once the rings' addresses
				 * were given back */
	uint64_t base;		/* where the target has mapped it */

	/* Written by the injector before hello. */
	uint64_t slots_off;
	uint32_t nslots, max_slots;	/* nslots: [release] of the injector */
	uint64_t rings_off, ring_stride;
	uint32_t nrings, nsub, nspills;
	uint32_t returns;	/* rings and spill areas given back so far. Of the injector
				 * [release], behind the ring's state or the area's byte */
	uint64_t threads;	/* address of the private region */
	uint64_t spills;	/* address of the spill areas; 0: none is needed */
	uint64_t stack_lo, stack_hi;	/* the main thread's stack: hi is exact,
					 * lo as far as it may grow */
	uint64_t stack_max;	/* bytes that another thread's stack may have
				 * below its thread pointer */
	uint64_t scratch;	/* address of the loader's code page, 0: none, or a thread
				 * is on the stack behind it */
	uint64_t tid_offset;	/* of a thread's own id, from the thread pointer
				 * (two's complement); 0: only the kernel knows.
				 * hello takes it back if it is not true of the
				 * thread that says it */

	/* Written by the payload in hello. */
	uint64_t payload;	/* its load address */
	uint64_t tls_offset;	/* of its per-thread word, from the thread
				 * pointer (two's complement); 0: it has none,
				 * and threads are sought by THREAD_TP and _TID */
	uint64_t slow_entry, slow_exit, slow_mark; /* see arch/<name>/slow.S */
	uint64_t slow_goroutine, slow_count, slow_watch_entry, slow_watch_exit;
	uint64_t slow_tight, slow_first, slow_first_end, slow_find;
	uint64_t slow_values_entry, slow_values_exit, slow_guard;
	uint64_t slow_stacks;	/* what runs on them takes them in turn: slow_first */
	uint64_t spills_offset;	/* of a thread's word that says where its spill frames
				 * are, from the thread pointer (two's
				 * complement); 0: it has none */
	uint64_t traps;		/* address of its struct traps */
	uint64_t answer;	/* generation of the last hello, as payload saw [release] */
	int32_t pid;		/* the target's own view */

	/* The injector that holds the target: pid and start time in clock
	 * ticks since boot, so that a reused pid is not believed. */
	int32_t holder_pid;
	uint32_t reader;	/* takes what is recorded: a thread's id as its own kernel knows
				 * it, and READER_GONE once it has ended: then the payload
				 * closes the session. 0: none is expected. [any] of the
				 * injector and its kernel */
	uint32_t keep_last;	/* 1: a full ring overwrites what is oldest in it,
				 * and nothing else gives any place back */
	uint64_t holder_start;
	uint32_t follow_forks;	/* 1: a forked child takes rings of its own */
	int32_t only;		/* where calls are counted: those of this thread alone, by
				 * the target's own view; 0: of all */

	/* How much of a thread's time functions may take, in hundredths of a percent
	 * (0: all), by what an event of theirs costs it, in ticks; and how much time
	 * is judged at once, at least. See payload/limiter.c. */
	uint32_t limit, cost;
	uint64_t window;

	/* Of the injector alone. */
	uint32_t started;	/* 1: meant to go on without an injector */
	uint32_t notes_at;	/* which half of the notes holds: 0 or 1 */
	uint64_t notes_off, notes_size;	/* both halves together; each begins with
				 * the bytes of text that follow, a uint64_t */

	/* Atomics that the payload writes. */
	uint64_t lost_entries, lost_exits;	/* no ring was free [atomic] */
	uint32_t next_fiber;	/* its number, over all processes [atomic] */
	uint32_t counting;	/* enum counting. Of the injector */
	uint32_t keeper;	/* not 0: a language's runtime has made the threads, and
				 * the thread pointer says nothing of their stacks. The
				 * injector's number for it */
	uint32_t next_ring;	/* where the next search for a free one begins, unless
				 * the reader has freed one before it. A hint [any] */
	uint64_t scale;		/* ns of a tick: see timing.h. Of the injector */

	/* In a file, whose room is taken before anything is written to it: a ring has few
	 * small sub-buffers, and the first ones that are claimed take a bank besides. */
	uint32_t sub_size, bank_subs;
	uint32_t nbanks;
	uint32_t next_bank;	/* taken so far, or more. Of the payload [atomic] */
	uint64_t banks_off;

	/* Of the injector, and what the payload says of the first call that was too
	 * long. The injector arms it again. */
	struct watch watches[WATCHES];
	uint32_t nwatches;	/* of the injector [release] */
	uint32_t fired;		/* enum watch_state [release] of the payload; a fence is
				 * behind the injector's store: see take_oldest */
	uint32_t firings;	/* so far, and what follows: [by fired] */
	uint32_t fired_func;
	uint64_t fired_begin, fired_end;	/* time stamps */
	int32_t fired_tid;	/* the target's own view */
	uint32_t nislands;	/* words of their list. Of the injector */

	/* Read plans and what is for them; plans_funcs is 0 where nothing is read. Of the
	 * injector. */
	uint64_t plans_off, plans_size, captures_off;
	uint32_t plans_funcs;	/* functions that the list has room for */
	uint32_t reads;		/* enum reads_allowed [any] */
	uint32_t call_changes;	/* enum call_changes. Of the injector */
	uint32_t given_up;	/* 1: a process has given reading up by itself: guard.c. Of the
				 * payload [any] */

	/* Tables by which stacks are walked, and what rings have for that; callers_size is 0
	 * where none is. Of the injector. */
	uint64_t callers_off, callers_size, walks_off;
	/* Of the injector. */
	uint32_t deepest;	/* of a stack's calls so many are recorded, at most, that are open
				 * at a time; 0: any number [any] */
	uint64_t least;		/* where calls are sifted: ticks that one has to take [any] */
	uint64_t sides_off;
	uint32_t asks;		/* 1: stubs of functions with a condition may have a fast path,
				 * which is to leave all to C. Of the injector [any] */
	uint32_t plan_changes;	/* so far, or begun. Of the injector */
	uint32_t plans_at;	/* which of the two lists of plans holds, 0 or 1. [release] of the
				 * injector, which writes one byte of it */
	uint32_t planned;	/* 1: some function has a plan, or its callers are taken, or had:
				 * before that no thread has put anything together [any] */
	int64_t cpu_at;		/* how far from the thread pointer the kernel keeps the number of
				 * the thread's processor; 0: it is told otherwise, or is not */

	uint32_t narenas;
	uint32_t nfuncs;	/* function ids given so far; they are kept for
				 * the life of the process */
	struct arena arenas[SESSION_ARENAS];
};

/*
 * One thread's ring. Written by its thread, but for `tail`, the bits of `used`
 * that become 0, and `state` once the thread is gone. Rings never block: a full
 * one drops and counts.
 *
 * A sub-buffer is begun in the lowest free place, so that a ring touches no
 * more memory than its reader's delay needs: a page that is touched for the
 * first time costs its thread more than a hundred records. Where sub-buffer n
 * lies is what the headers in the places that are used say.
 *
 * With keep_last, `tail` is the owner's, too: a full ring never is. Its sub-buffers
 * take the places in turn, and the oldest is given up, by `tail`, before it is
 * zeroed. A reader that copies one is not waited for: the copy is whole if `tail` has not
 * passed it when that is made.
 *
 * Where calls are counted, the sub-buffers are one array of counters (uint64_t) by
 * function id, of the calls of all threads that have had the ring, one after another:
 * what all rings have together is what was called. Nothing is ever zeroed.
 */
struct ring {
	union {
		struct {
			uint32_t state;	/* enum ring_state [release] of both sides */
			int32_t tid;	/* the target's own view; a vfork's child
					 * writes as the thread that waits for it */
		};
		uint64_t owner;		/* both: changed with one CAS */
	};
	uint64_t generation;	/* counts the claims [by state] */
	uint64_t head;		/* sub-buffers begun so far; the current one has
				 * the number head - 1. [release] of the owner, behind the
				 * header, and the `reserved` and words of the one before */
	uint64_t tail;		/* sub-buffers given back by the reader; those
				 * from tail to head - 1 hold data. [release] of the
				 * reader, behind `used` */
	uint64_t lost_entries, lost_exits;	/* dropped since the claim [any] */
	int32_t pid;		/* session.pid, or of a forked child the id of
				 * its first thread that has recorded [by state] */
	uint32_t pad;
	uint64_t overwritten;	/* with keep_last: entries, exits and marks that
				 * were in sub-buffers below `tail`. [release], behind
				 * next_tail */
	uint64_t next_tail;	/* likewise [release], and of the owner alone: what `tail` is to
				 * be, and `overwritten` then: should the step from
				 * one to the other be left for good, it is made again,
				 * and not twice */
	uint64_t next_overwritten;
	uint64_t fired_head;	/* `head` when a watched call was first seen to have
				 * taken too long, by the number of `firings` */
	uint32_t fired;
	uint32_t bank;		/* its number and one, 0: none. Of the owner; set before the
				 * first sub-buffer is begun, and kept */
	/* Of the injector: what the thread of this id, the target's own view, is called, as it
	 * was when it was looked at last; the name [by named], which is 0 while it changes. */
	int32_t named;
	char name[16];
	uint32_t pad_name;
	uint64_t used[SUBBUFS_MOST / 64];	/* bit n % 64 of word n / 64: place
				 * n holds data. Set when its header is written
				 * and counted by `head`, cleared when its words
				 * are zeroed and before `tail` counts it. [release] of
				 * both sides */
};

/* Free to claimed by the payload, by way of claiming; not free to free by the
 * reader, once the thread is gone and all was read. A siglongjmp out of a claim
 * leaves a ring that its thread has no use for. */
enum ring_state {
	RING_FREE = 0,
	RING_CLAIMED = 1,
	RING_CLAIMING = 2,
};

/*
 * Head of a sub-buffer. The words follow at once and go to its end. A word
 * that reads 0 has not been committed. The reader zeroes the words that it
 * has read before it gives the sub-buffer back, so that this is always so. (With
 * keep_last the owner does.) A record is one word, [release] of its owner; or two, and then
 * the first is, and the second [by the first].
 */
struct subbuf {
	uint64_t seq;		/* the ring's head when it was begun: 1, 2, ... All of the
				 * header is [by head], and [by used] */
	uint64_t epoch;		/* time stamp with the low 40 bits zero: what
				 * every word's time is relative to */
	uint64_t reserved;	/* bytes of words, written when it is closed; of
				 * no meaning in the ring's newest. A zero word
				 * within them is a hole: its call was left by a
				 * siglongjmp between reserving and writing. [by head] */
	uint64_t lost_entries, lost_exits;	/* of the ring, when begun */
	uint32_t depth;		/* calls open on that stack, when begun, of those
				 * that EXT_UNWOUND counts. One off if it was
				 * begun by a signal handler that interrupted
				 * a call between its record and its frame */
	uint32_t stack;		/* number of that stack */
	uint64_t begin;		/* time stamp when it was begun */
	uint32_t untold;	/* of what is lost: what EXT_LOST has not told */
	int32_t tid;		/* whose it is, the target's own view: with keep_last
				 * a ring goes from a thread that has ended to
				 * the one that has its thread pointer then */
};

/* Stacks that one thread is followed on at a time. Number 0 of them is the
 * one that it was born with; the last stands for goroutines, of which no frames are
 * kept. */
#define THREAD_STACKS 33
#define GOROUTINE_STACK (THREAD_STACKS - 1)

/*
 * Every stack has a piece of the frame table to itself, which never moves: the
 * recording routines may be interrupted anywhere by a signal handler that runs
 * on another stack, and what they then go on to write must still be theirs.
 * The born stack has the bytes from FRAMES_OFF to FRAMES_SPLIT of struct
 * thread, the others FRAMES_OTHER bytes each behind that.
 *
 * A frame is one word. Even: the sp of an open call whose entry was recorded.
 * Odd: sp - FRAME_LOST of an open call whose entry was lost, so that the fast path,
 * which looks for its own even sp, leaves the exit to the slow one; or sp - FRAME_PENDING
 * of one of which it is not known yet whether it will be recorded, or sp - FRAME_FAILED of one
 * that will not be (sieve.h). The first word of a piece is a sentinel: hi - 7 of the stack.
 */
#define FRAMES_OFF 2048
#define FRAMES_SPLIT 65536
#define FRAMES_OTHER ((THREAD_SIZE - FRAMES_SPLIT) / (THREAD_STACKS - 1) & ~7)

struct stack {
	uint64_t lo, hi;	/* sp of its frames: lo <= sp < hi */
	uint64_t top;		/* while it is not the current one, and as it
				 * was when it became that: like thread.top */
	uint64_t used;		/* counts switches, for eviction; 0: free */
	uint32_t number;	/* EXT_STACK's, or STACK_TAKEN */
	uint16_t opened;	/* 1: bounds are a guess, and may grow */
	uint16_t within;	/* calls around its frames, that are orphans */
};

/* Of one of a thread's open calls of watched functions: its stack pointer, 0: none; and
 * when it began. */
struct watched {
	uint64_t sp, begin;
};

/* So many are remembered; the one that began first is forgotten. */
#define THREAD_WATCHED 16

/*
 * Private to one thread of the target, but that others send it to the slow path (`end`) and
 * take the stacks of fibers over: for that `magic`, `tp`, `current`, `top` (behind its frame) and
 * the number and top of each stack are [release]. And wiped in a child after fork: a
 * child finds zeros, takes the slow path, and there switches itself off. That
 * top and frames_end are offsets from the struct makes a wipe harmless even
 * to a thread that stands in the middle of the fast path.
 */
struct thread {
	uint64_t cur;		/* the next word goes to this address; while the
				 * ring is full an odd number, which counts losses
				 * by 2 and never has the same value again */
	uint64_t end;		/* end of the current sub-buffer; END_FULL; 0
				 * keeps everything on the slow path */
	uint64_t limit;		/* slow path when the clock has passed this */
	uint64_t bias;		/* (epoch << 2), subtracted from (tsc << 2) */
	uint64_t top;		/* offset of the innermost open frame */
	uint64_t lo;		/* lowest sp of the current stack */
	uint64_t frames_end;	/* offset past the last frame of the piece */
	uint64_t owner;		/* what its owner has at session.tid_offset (int32_t),
				 * and no other thread that finds this struct */
	uint64_t ring;		/* address of its ring */
	uint64_t full_tail;	/* the ring's tail when it was found full */
	uint64_t reader;	/* address of session.reader */
	uint64_t tp;		/* of its owner, if it is to be sought by that;
				 * 0: of no thread */
	uint64_t tid;		/* its owner's id, as the owner knows it */
	uint64_t goroutine;	/* the one that is told to the ring's reader as the
				 * current stack: the address of its g. 0: none */
	uint64_t counts;	/* address of its ring's counters */
	uint64_t counted;	/* their end; 0: none, or not known yet */
	/* Where calls are timed: the addresses of its frames' sides, of its timings,
	 * and of their end; and the session's scale. */
	uint64_t sides, timings, timed, scale;
	uint64_t least;		/* where calls are sifted: ticks that one has to take; with
				 * LEAST_ASKS all is left to C, which puts the session's there
				 * again. The injector writes it, too (verb_filter.c) */
	uint64_t magic;		/* THREAD_MAGIC once claimed; 0: wiped or new */
	uint64_t busy;		/* sp of the call that is in the slow path: what
				 * is nested in it is lost. 0: none */
	uint64_t subbuf;	/* address of the current sub-buffer, */
	uint64_t subbuf_end;	/* and what `end` is outside the slow path: 0 if no
				 * sub-buffer is current */
	uint64_t parked, parked_end;	/* where calls are sifted: `cur` and subbuf_end of the
				 * ring, while `cur` counts and subbuf_end is END_SIEVE */
	uint64_t visit;		/* which hello it was claimed after */
	uint64_t losses;	/* the last odd `cur` */
	uint64_t reported;	/* lost words that EXT_LOST has told */
	uint64_t switches;	/* between stacks */
	uint32_t index;		/* of its ring */
	uint32_t deepest;	/* the session's */
	uint32_t current;	/* stack */
	uint32_t told;		/* number of the stack that the ring's reader
				 * takes for the current one */
	uint32_t next_number;	/* for the next stack seen */
	uint64_t judged_at;	/* where session.limit is to hold: the time of the last
				 * judgement, */
	uint64_t judged_words;	/* and what was recorded since */
	uint64_t unforked;	/* thread 0's only: THREAD_MAGIC since hello; wiped
				 * in a forked child */
	struct stack stacks[THREAD_STACKS];
	struct watched watched[THREAD_WATCHED];
	uint64_t next_watched;
	uint64_t now;		/* when room was made last: what goes there has that time */
};

#define LEAST_ASKS (1ull << 63)

/* At the start of every arena; hot.S refers to it relative to the PC. */
struct arena_header {
	uint64_t tls_offset;
	uint64_t slow_entry, slow_exit, slow_mark;
	/* For seek_x: two of the session, and what follows from its nrings. */
	uint64_t tid_offset, threads;
	uint64_t homes, places;
	uint64_t slow_goroutine, slow_count, slow_watch_entry, slow_watch_exit;
	uint64_t slow_tight, slow_first, slow_find;
	uint64_t first;		/* the address of tight_first, shifted left by 16 */
	/* For debuggers, which find in arenas all that they need: gdb/inject.py. */
	uint64_t magic, size;	/* of the arena */
	uint64_t notes;		/* from its base to the first: see stub.h */
	uint64_t payload, payload_end;
	uint64_t slow_stacks;	/* the session's */
	uint64_t slow_values_entry, slow_values_exit, slow_guard;
	uint64_t session;	/* its address */
};

#include "payload/loader.h"

#endif /* __ASSEMBLER__ */
#endif

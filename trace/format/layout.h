/* SPDX-License-Identifier: MIT */
/*
 * layout: what stands in the files of a trace directory?
 *
 *	metadata		TSDL, the language of CTF 1.8: see metadata.c
 *	stream_L		packets of lane L, one behind the other
 *	stream_L_C		the same with rotation: those of chunk C
 *	stream_L.zst, stream_L_C.zst	the same compressed: see squeeze.h
 *
 * A lane is the place of one thread, and of another one after its end. A packet
 * is a struct packet and words; all of it belongs to one thread. An event is one
 * word as the process wrote it (REC_* in payload/abi.h), or a word of kind
 * REC_EXT with one of the numbers below in place of the function, and another
 * word behind it: a function, a number. Little-endian. LAYOUT_VALUES has more words: what was
 * read of the call whose event comes next in the packet, eight bytes each, the last filled up
 * with zeros. Before that, LAYOUT_CALLERS has a word for each caller of that call, the
 * innermost first, as payload/callers.h has them: what they are called, the metadata tell.
 */
#ifndef TRACE_LAYOUT_H
#define TRACE_LAYOUT_H

#include "base/base.h"
#include "payload/abi.h"

/* Version 1 had packets that told nothing of the clock, version 2 no LAYOUT_VALUES,
 * version 3 no LAYOUT_CALLERS, version 4 no LAYOUT_OFF, version 5 no LAYOUT_BEGUN and no
 * LAYOUT_TYPED. */
#define LAYOUT_VERSION 6
#define LAYOUT_TIME_MASK ((1ull << REC_TIME_BITS) - 1)
#define LAYOUT_FUNC_MASK ((1u << REC_FUNC_BITS) - 1)

/* Events of CTF have numbers; 1 and 2 are REC_ENTRY and REC_EXIT. */
enum layout_event {
	LAYOUT_UNWOUND = 4,	/* a function */
	LAYOUT_EXIT_LOST = 5,	/* a function */
	LAYOUT_ENTRY_ONLY = 6,	/* a function */
	LAYOUT_LOST = 7,	/* how many events */
	LAYOUT_STACK = 8,	/* the thread goes on on another stack: its number */
	LAYOUT_STACK_END = 9,	/* of the current one */
	LAYOUT_BEFORE = 10,	/* a function: an exit without an entry */
	LAYOUT_VALUES = 11,	/* a function, and from the bits below on how many bytes, and in
				 * how many words they follow */
	LAYOUT_CALLERS = 12,	/* a function; how many callers, in as many words that follow; and
				 * why there are no more: enum callers_cut */
	LAYOUT_OFF = 13,	/* the thread leaves its processor; 1: it could go on */
	LAYOUT_ON = 14,		/* it has one: 0 */
	LAYOUT_SWITCHES_LOST = 15,	/* some of both are missing: 0 */
	LAYOUT_BEGUN = 16,	/* a function, of whose call it is known now that it is recorded;
				 * a third word has the ticks of its begin */
};

/* An event of a function with what was read of it as fields: the number of its entry, its exit or
 * its entry alone is this, so many for each function, and one of enum layout_typed. Behind the
 * function how many words follow; which fields these are say the metadata (export --to ctf). */
#define LAYOUT_TYPED 4096u
#define LAYOUT_TYPED_EACH 8u
#define LAYOUT_TYPED_WORDS 22
#define LAYOUT_TYPED_MASK 0x3ff

enum layout_typed {
	TYPED_ENTRY = 0, TYPED_EXIT = 1, TYPED_MARK = 2,
	TYPED_BEGUN = 3,	/* as LAYOUT_BEGUN: the first word has the ticks of its begin */
	TYPED_TEXT = 4,		/* or with this: one field, which is text */
};

#define LAYOUT_VALUES_BYTES 22
#define LAYOUT_VALUES_WORDS 38
#define LAYOUT_VALUES_MASK 0x3ff	/* of that: more do not follow */

#define LAYOUT_CALLERS_N 22
#define LAYOUT_CALLERS_CUT 30

#define PACKET_MAGIC 0xc1fc1fc1u

struct packet {
	uint32_t magic;
	uint8_t uuid[16];	/* of the trace */
	uint32_t stream_id;	/* 0 */
	uint64_t begin, end;	/* ticks of its first and its last event */
	uint64_t content, size;	/* bits, this head included; content: less what pads the last
				 * event to a whole word */
	uint64_t seq;		/* in the lane, from 0 */
	uint64_t lost;		/* events dropped in the lane, up to its end */
	int32_t pid, tid;	/* host's view */
	uint32_t thread;	/* unique in the trace; NO_THREAD: of fibers that
				 * the thread ran */
	uint32_t stack;		/* the current one, as the packet begins */
	char name[16];		/* of the thread */
	/* One moment of about when it was written, by the counter and in ns since
	 * 1970: between two of them the counter is taken to be even. 0: none. */
	uint64_t clock_ticks, clock_ns;
};

#define PACKET_HEAD_1 offsetof(struct packet, clock_ticks)	/* bytes, in version 1 */

#define PACKET_BYTES 65536
#define PACKET_WORDS ((PACKET_BYTES - sizeof(struct packet)) / 8)
#define MAX_LANES (1u << 20)

/* Of a compressed stream: before each frame of zstd, which is a whole packet. For zstd
 * itself it is a frame of user data, which it passes over. */
struct squeezed {
	uint32_t magic;		/* SQUEEZED_MAGIC */
	uint32_t passed;	/* bytes that zstd passes over: those from `frame` on */
	uint64_t frame;		/* bytes of the frame that follows */
	struct packet head;	/* as it stands in the frame */
};

#define SQUEEZED_MAGIC 0x184d2a50u
#define SQUEEZED_BEHIND offsetof(struct squeezed, frame)
#define SQUEEZED_MOST (PACKET_BYTES + 1024)	/* bytes of a frame */

_Static_assert(sizeof(struct packet) == 120, "struct packet");
_Static_assert(offsetof(struct packet, begin) == 24, "struct packet");
_Static_assert(sizeof(struct squeezed) == 16 + sizeof(struct packet), "struct squeezed");

#endif

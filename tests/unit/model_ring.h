/* SPDX-License-Identifier: MIT */
/*
 * model_ring: a ring of two sub-buffers of a few words, and what its threads have done to it so
 * far. Names are those of payload/abi.h. What only the test knows is in struct truth.
 */
#ifndef TESTS_UNIT_MODEL_RING_H
#define TESTS_UNIT_MODEL_RING_H

#include "tests/unit/model_memory.h"

/* Processors: two threads, of which the second begins when the first has ended, and what
 * reads: the reader, or a snapshot. */
enum { OWNER, NEXT_OWNER, READER };

enum { SUBS = 2, WORDS_MOST = 3, RECORDS = 24, SCRIPT = 8 };

/* Places of the memory: of the ring, and of each sub-buffer. */
enum loc {
	STATE, GENERATION, PID, HEAD, TAIL, USED, LOST, OVERWRITTEN, NEXT_TAIL, NEXT_OVERWRITTEN,
	HEADER, RESERVED = HEADER + SUBS, WORD = RESERVED + SUBS,
};

/* The rest of a header has no order of its own, and is one value here. */
static inline uint8_t header_of(unsigned int seq, unsigned int lost)
{
	return (uint8_t)(seq | lost << 4);
}

static inline uint8_t seq_of(uint8_t header)
{
	return header & 15;
}

static inline unsigned int word_at(unsigned int place, unsigned int pos)
{
	return WORD + place * WORDS_MOST + pos;
}

/* Orders that can be left out. */
enum order {
	NOTHING,
	RECORD_RELEASE, HEADER_RELEASE, WORD_ACQUIRE, HEAD_RELEASE, HEAD_ACQUIRE,
	PLACE_RELEASE, PLACE_ACQUIRE,
	GIVE_RELEASE, TAIL_RELEASE, TAIL_ACQUIRE, USED_ACQUIRE,
	CLAIMED_RELEASE, CLAIMED_ACQUIRE, FREE_RELEASE, FREE_ACQUIRE, SEE_END,
	OVERWRITTEN_RELEASE, GIVEN_UP_RELEASE, GIVEN_UP_FENCE,
	COPY_BEGIN, COPY_AGAIN, COPY_END,
	ORDERS
};

static const char *const order_names[ORDERS] = {
	[RECORD_RELEASE] = "a record of one word is stored with release",
	[HEADER_RELEASE] = "the header of two words is stored with release",
	[WORD_ACQUIRE] = "the reader loads a record with acquire",
	[HEAD_RELEASE] = "the owner stores head with release",
	[HEAD_ACQUIRE] = "the reader loads head with acquire",
	[PLACE_RELEASE] = "the owner sets a bit of used with release",
	[PLACE_ACQUIRE] = "the reader loads used with acquire",
	[GIVE_RELEASE] = "the reader clears a bit of used with release",
	[TAIL_RELEASE] = "the reader stores tail with release",
	[TAIL_ACQUIRE] = "the owner loads tail with acquire",
	[USED_ACQUIRE] = "the owner loads used with acquire",
	[CLAIMED_RELEASE] = "the owner stores RING_CLAIMED with release",
	[CLAIMED_ACQUIRE] = "the reader loads the state with acquire",
	[FREE_RELEASE] = "the reader stores RING_FREE with release",
	[FREE_ACQUIRE] = "a claim takes a ring with acquire",
	[SEE_END] = "the reader has a fence behind the end of a thread",
	[OVERWRITTEN_RELEASE] = "overwritten is stored with release, behind next_tail",
	[GIVEN_UP_RELEASE] = "with keep_last tail is stored with release",
	[GIVEN_UP_FENCE] = "a fence is between tail and what is zeroed",
	[COPY_BEGIN] = "a snapshot has a fence behind head",
	[COPY_AGAIN] = "a snapshot has a fence between the newest words' copies",
	[COPY_END] = "a snapshot has a fence before next_tail",
};

static enum order left_out;

static inline bool has(enum order o)
{
	return o != left_out;
}

/* What a thread does: records of one or two words. */
struct scenario {
	const char *name;
	uint8_t words;			/* of a sub-buffer */
	uint8_t script[2][SCRIPT];	/* of both threads; 0: the end */
	uint8_t handler;		/* what a signal's handler records; 0: none comes */
	bool leaves;			/* it may leave by siglongjmp */
	bool kept;			/* no reader, but a snapshot */
};

/* In a script: not before all but the current sub-buffer was given back, and it has room. */
#define HAS_ROOM 0x10

static const struct scenario *now;

/* A call that is being recorded. */
struct frame {
	uint8_t pc, n, at, id, head, tail, place, has_room;
};

struct thread {
	uint8_t claimed, ended, done, next;	/* `next` of the script */
	uint8_t cur, end, subbuf_end, subbuf, full_tail, losses, lost, busy;
	uint8_t left;			/* a slow path was, for good */
	uint8_t depth, handled;
	uint8_t given;			/* with keep_last: its tail */
	uint8_t overwritten;
	struct frame frame[2];
};

struct reader {
	uint8_t pc, claimed, gone, frees, open, generation;
	uint8_t at, head, place, pos, end, lost, used, i, word, last;
	uint8_t places[4];
};

struct snapshot {
	uint8_t pc, head, tail, given, overwritten, n, first, pos, seq, again;
	uint8_t words[SUBS][WORDS_MOST];
	uint8_t kept[SUBS];		/* the sub-buffer's number and one */
};

/* What has happened. */
struct truth {
	uint8_t time;			/* stamps given so far, which are the records' ids */
	uint32_t committed, taken, abandoned;
	uint8_t seq[RECORDS], owner[RECORDS];
	uint8_t lost[2];
	uint8_t header_lost[SUBS];
	uint8_t holes;			/* words of a sub-buffer that no record will fill */
	uint8_t numbers;		/* of sub-buffers without a place */
	uint8_t begun[SUBS];		/* the number, and one */
};

struct state {
	struct memory m;
	struct thread t[2];
	struct reader r;
	struct snapshot s;
	struct truth truth;
};

static inline uint32_t bit(unsigned int i)
{
	return 1u << i;
}

/* Values of words, by the record that they are of. */
enum { TWO_WORDS = 64, BODY = 128, ID = 63 };

static inline bool is_header(uint8_t word)
{
	return word && word < BODY;
}

/* A record that is taken from sub-buffer number `n`. */
static inline void truth_take(struct state *s, unsigned int id, unsigned int n)
{
	struct truth *t = &s->truth;

	must_hold(t->committed & bit(id), "a record is taken that was not written");
	must_hold(!(t->taken & bit(id)), "a record is taken twice");
	must_hold(t->seq[id] == n + 1, "a record of an earlier round is taken");
	t->taken |= bit(id);
}

static inline uint32_t truth_of(const struct truth *t, unsigned int owner)
{
	uint32_t all = 0;

	for (unsigned int id = 1; id <= t->time; id++)
		if (t->owner[id] == owner)
			all |= bit(id);
	return all & t->committed;
}

#endif

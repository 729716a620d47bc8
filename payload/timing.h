/* SPDX-License-Identifier: MIT */
/*
 * timing: where calls are timed, what does a ring hold, and what writes it?
 *
 * Nothing is recorded: each thread adds up the durations of its calls by function. Its
 * ring, which has no sub-buffers then, is
 *
 *	struct side[]		at TIMING_SIDES_OFF: of each frame of the thread
 *	struct timing[]		by function id, timing_funcs() of them
 *	uint64_t[]		as many counters of calls that have begun; they lie close
 *				together, and so tell cheaply which timings are in use
 *
 * Their thread alone writes them, while it lives; the reader loads each word in any order.
 *
 * Calls are paired by the frames of struct thread, as where they are recorded. `cur` is
 * odd, and moves with every entry and exit as it does with every loss of a ring that is
 * full; `end` is END_TIMED. So all that hot.S says of signals holds here.
 *
 * Nothing is ever zeroed: a ring goes from thread to thread as it is, and what all have
 * together is what was called. Everything is written by one instruction each, so that
 * handlers that come between add to it, too. (A child that a handler forks in the middle
 * of a record, and that returns from there, may make this one a second time.)
 */
#ifndef PAYLOAD_TIMING_H
#define PAYLOAD_TIMING_H

/* Offsets that assembly uses; abi.c asserts them. A frame is a word, its side three. */
#define SIDE_WORDS 3
#define SIDE_SIZE (8 * SIDE_WORDS)
#define SIDE_BEGIN 0
#define SIDE_INNER 8
#define SIDE_FUNC 16
#define TIMING_SHIFT 9
#define TIMING_TOTAL 0
#define TIMING_SELF 8
#define TIMING_MOST 16
#define TIMING_LAST 32
#define TIMING_BUCKETS 40

/* Bucket 0 has durations below 16 ns. Of each power of two from there on the lower half
 * has one, and the upper half; the last one has all that is longer. */
#define BUCKETS 59
#define BUCKETS_FROM 16

/* (ticks << SCALE_SHIFT) * session.scale >> 64 are so many ns, for clocks of 4 MHz and
 * more. */
#define SCALE_SHIFT 8

#ifndef __ASSEMBLER__

#include <stdint.h>

/* Of an open call. The side of the frame at offset n of struct thread is n / 8 sides
 * behind the first. */
struct side {
	uint64_t begin;		/* time stamp */
	uint64_t inner;		/* ticks of the calls that it has made, those that have
				 * ended */
	uint64_t func;
};

/* Of one function: its calls that have ended. More have begun while some are open, or
 * where one began too deep for a frame. */
struct timing {
	uint64_t total, self;	/* ticks; self: without those of calls within them */
	uint64_t most;		/* of one call, ticks */
	uint64_t unwound;	/* how many were left without an exit */
	uint64_t last;		/* the bucket of the last one, as a guess */
	uint64_t buckets[BUCKETS];	/* how many, by ns */
};

/* In a counter: the thread has taken such a call over from another, and ends it. */
#define TIMING_TAKEN (1ull << 63)

/* In a ring; for as many frames as a struct thread could have, rounded up to what a
 * sub-buffer takes. */
#define TIMING_SIDES_OFF PAGE
#define TIMING_SIDES (SIDE_WORDS * THREAD_SIZE)
#define TIMINGS_OFF (TIMING_SIDES_OFF + TIMING_SIDES)

#define TIMING_EACH (sizeof(struct timing) + sizeof(uint64_t))

/* Of how many functions is there room in a ring of so many bytes? */
static inline uint64_t timing_funcs(uint64_t bytes)
{
	return bytes > TIMING_SIDES ? (bytes - TIMING_SIDES) / TIMING_EACH : 0;
}

static inline uint32_t timing_bucket(uint64_t ns)
{
	uint32_t msb, i;

	if (ns < BUCKETS_FROM)
		return 0;
	msb = 63 - (uint32_t)__builtin_clzll(ns);
	i = 2 * msb + (uint32_t)(ns >> (msb - 1)) - 9;
	return i < BUCKETS ? i : BUCKETS - 1;
}

static inline uint64_t timing_ns(uint64_t ticks, uint64_t scale)
{
	return (uint64_t)((unsigned __int128)(ticks << SCALE_SHIFT) * scale >> 64);
}

/* The least duration of a bucket, in ns. */
static inline uint64_t timing_from(uint32_t bucket)
{
	uint32_t half = bucket + 7;

	return bucket ? (2ull + half % 2) << (half / 2 - 1) : 0;
}

#endif /* __ASSEMBLER__ */
#endif

/* SPDX-License-Identifier: MIT */
/*
 * sieve: where only calls are recorded that take long enough, or that a condition holds for, what
 * is known of the others?
 *
 * A call whose entry does not decide that is pending: it has a frame of its own kind
 * (FRAME_PENDING), and in the frame's side (timing.h) when it began. What it has read at its entry
 * is kept (values.c). Most such calls end so: the fast path pops the frame, and nothing is written.
 * One that a condition has refused at its entry has one of a third kind (FRAME_FAILED), by which
 * the fast path ends it, too. (It has none where only so many calls of a stack are recorded, for it
 * is none of them, unless the condition asks how deep calls are. Where all were kept as it was
 * refused its side says 0 for when it began: it is no level of those that are asked for later.)
 *
 * One that passes is recorded at its end: EXT_BEGUN with the time of its begin, and its exit. Calls
 * around it that are pending pass as well, if all that they have to do is to take as long: they
 * are recorded first, the outermost before all others. So in a ring each begin comes behind all
 * that was recorded earlier; but that of a call which another condition has held back.
 *
 * The side's third word says whose it is, as the frame and its side are two stores, and handlers
 * come between: the function, and where the frame is (SIDE_OWNER).
 *
 * A ring has its sides, as where calls are timed, and behind them its sub-buffers. Outside the slow
 * path `cur` counts, and is odd, and `end` is END_SIEVE: see ring_park().
 *
 * What calls cost is known by that count: a fast path adds 2 to it, a slow one SIEVE_SLOW. When
 * SIEVE_TURN of it are full the bit is set, and as long as it is all calls of the thread are left
 * to C, which judges (limiter_sift) and counts on without the bit.
 */
#ifndef PAYLOAD_SIEVE_H
#define PAYLOAD_SIEVE_H

#define SIEVE_TURN_BIT 21
#define SIEVE_TURN (1 << SIEVE_TURN_BIT)
#define SIEVE_SLOW 16

#define FRAME_LOST 7
#define FRAME_PENDING 5
#define FRAME_FAILED 3

/* Offsets in struct capture_plan; abi.c asserts them. */
#define PLAN_SCALE 8
#define PLAN_MASK 16
#define PLAN_LOW 24
#define PLAN_SPAN 32
#define PLAN_ARGUMENT 40
#define PLAN_SIZE 2192

/* In a side's third word: bits of the stack pointer, without its low three, below the function. */
#define SIDE_OWNER_BITS 42

#endif

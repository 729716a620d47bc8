/* SPDX-License-Identifier: MIT */
/*
 * homes: where is the struct thread of a thread?
 *
 * Where the payload has no thread-local storage, a struct thread is found by
 * whose it is: its number is that of its thread pointer's home, which is
 * (tp * HOME_FACTOR >> 32) * homes >> 32, or one of the next, as a rule. There are
 * as many homes as have all their places.
 */
#ifndef PAYLOAD_HOMES_H
#define PAYLOAD_HOMES_H

#define HOME_FACTOR 0x9e3779b97f4a7c15
#define HOME_PLACES 16

#ifndef __ASSEMBLER__

#include <stdint.h>

/* How many places belong to a home, and how many homes are there? */
static inline uint32_t thread_places(uint32_t nrings)
{
	return nrings < HOME_PLACES ? nrings : HOME_PLACES;
}

static inline uint32_t thread_homes(uint32_t nrings)
{
	return nrings - thread_places(nrings) + 1;
}

static inline uint32_t thread_home(uint64_t tp, uint32_t nrings)
{
	return (uint32_t)((tp * HOME_FACTOR >> 32) * thread_homes(nrings) >> 32);
}

#endif
#endif

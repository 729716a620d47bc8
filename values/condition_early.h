/* SPDX-License-Identifier: MIT */
/*
 * condition_early: can one register tell, before anything is read, that a call does not pass?
 *
 * A recording routine asks that first, without C (arch/<name>/sifted.h). It refuses, and never
 * passes: what is not refused here is judged by the condition.
 */
#ifndef VALUES_CONDITION_EARLY_H
#define VALUES_CONDITION_EARLY_H

#include <stdbool.h>
#include <stdint.h>

struct condition;
struct read_plan;

/* A call does not pass if the register of the argument (from 1 on, 0: none tells), times `scale`,
 * and of that the bits of `mask`, is more than `span` above `low`, modulo 2^64. */
struct condition_early {
	uint64_t scale, mask, low, span, argument;
};

/* Finds what condition_check and reads_check have found good. `arguments`: the registers that pass
 * arguments, by their numbers in DWARF; of these `nargs`. `ret->argument` 0: none tells. */
void condition_early(const struct condition *, const struct read_plan *, const uint8_t *arguments,
		     unsigned int nargs, struct condition_early *ret);

/* Is a call refused that has this in the register? */
static inline bool condition_refuses(const struct condition_early *e, uint64_t value)
{
	return e->argument && (value * e->scale & e->mask) - e->low > e->span;
}

#endif

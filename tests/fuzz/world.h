/* SPDX-License-Identifier: MIT */
/*
 * world: the memory in which a site's window and its stub are run.
 *
 * A module's texts lie where code of theirs reaches its data and its stubs, but
 * hold breakpoints only, except for the bytes under test. What registers point
 * to is one small block; what operands relative to the PC name is reserved
 * around the texts and set up where a window refers to it; and further around is
 * nothing, for islands.
 */
#ifndef TESTS_FUZZ_WORLD_H
#define TESTS_FUZZ_WORLD_H

#include "plan/placement.h"
#include "tests/fuzz/runner.h"

enum {
	WORLD_PART = 4096,	/* bytes of each part of the block */
	WORLD_BLOCK = 3 * WORLD_PART,	/* thread's own memory, data, stack */
	WORLD_REFS = 4,		/* places that one window may refer to */
	WORLD_REF = 64,		/* bytes of each that count */
	WORLD_RED_ZONE = 128,
	WORLD_LOGS = 3,		/* entry, exit, mark: see struct routines */
};

struct world {
	uint8_t *memory;
	struct range range;	/* of link-time addresses that it holds */
	const struct symbols *symbols;
	struct range stubs;	/* where stubs may lie */
	struct routines routines;
	uint64_t *logs;		/* the last word that each routine got */
	uint8_t *block;		/* guarded on both sides */
};

/* 0 or -errno. A module whose code lies further apart than jumps reach is
 * -ERANGE. */
int world_open(const struct symbols *, struct world *ret);
void world_close(struct world *);

/* Our address of a link-time one, and back. */
uint8_t *world_at(const struct world *, raddr_t);
raddr_t world_address(const struct world *, uint64_t ours);
bool world_is_text(const struct world *, raddr_t);
/* Is there room for a jump that is neither code nor stub, within reach of any jump
 * of the texts? Link-time addresses may be below 0 there. */
bool world_is_free(const struct world *, raddr_t);
/* Let so many bytes there be written and executed. 0, or -1. */
int world_add_code(const struct world *, raddr_t, size_t n);
/* Can a block's address be a stack pointer with some room below? */
bool world_has_stack(const struct world *, uint64_t sp);

/* Random words, values of registers, contents of memory. */
uint64_t world_random(void);
void world_seed(uint64_t);
uint64_t world_value(const struct world *);
void world_fill(const struct world *, uint8_t *block);
void world_registers(const struct world *, struct state *);

#endif

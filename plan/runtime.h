/* SPDX-License-Identifier: MIT */
/*
 * runtime: what is other in functions of a language with a runtime of its own?
 *
 * One struct each, in a file of its own (runtime_go.c); RUNTIMES lists them. A field that is
 * false, zero or NULL says that all is as in C.
 */
#ifndef PLAN_RUNTIME_H
#define PLAN_RUNTIME_H

#include "plan/plan.h"

struct body;
struct choice;
struct plan_impl;

/* A function of a runtime whose entry is not a call (RESERVED), or whose exit is not a return
 * (LEFT_OTHERWISE). Another program may have a function of the same name. */
struct reserved {
	const char *glob;	/* of the raw symbol; begins with two letters of the name */
	enum { ANYWHERE, SYSTEMS, OWN } where;	/* in what holds the C library or the loader
				 * only; in what the runtime's compiler has made only */
	enum refusal why;
};

struct runtime {
	const char *name;
	/* By which routines are calls recorded? */
	enum plan_routines routines;

	/* ---- which functions ---- */

	/* Has its compiler made this one? NULL: any that no other compiler has. */
	bool (*made)(const struct symbols *, const struct func *);
	/* Once for a module, before anything is judged. */
	void (*open)(struct plan_impl *);
	/* Once for a function, before it is judged, which is decoded and not empty: where may it
	 * be recorded? Or its refusal is set. */
	void (*prepare)(struct body *);

	/* The functions that it has for itself; NULL is behind the last. */
	const struct reserved *reserved;
	/* What its linker appends to names of assembly; NULL: nothing. */
	const char *suffix;
	/* What does a function of this name, without that, say of others on its stack? NULL:
	 * none says anything. */
	enum plan_ending (*ending)(const char *name);

	/* ---- where control may be ---- */

	/* Is what looks like an address a number, in a program that is linked to one address? */
	bool (*is_number)(const struct plan_impl *, raddr_t);
	/* Its code names addresses by a distance from the PC, wherever it is linked to. */
	bool (*is_relative)(const struct symbols *);
	/* All of its code is code, and may be come to, whatever leads there: the runtime does. */
	bool all_live;
	/* No function of it falls into another one. */
	bool ends;
	/* No function of it changes to another stack and goes on by what lies there. */
	bool one_stack;
	/* Its assembler makes instructions that are newer than our decoder: a function that
	 * cannot be read need not be one that goes anywhere. */
	bool newer;

	/* ---- what may stand in a window ---- */

	/* Signals of faults that the runtime handles by where they are, in every process. */
	uint64_t handles;
	/* Does this instruction, which reads memory, never fault? */
	bool (*is_sure)(const struct body *, size_t step, const uint8_t *bytes, size_t left);
	/* May the address of this instruction be kept where no thread shows it, to go on at? */
	bool (*is_kept)(const struct body *, raddr_t);
	/* May this instruction meet the end of the stack, which the runtime handles by where? */
	bool (*ends_stack)(const struct body *, size_t step);
	/* A call may come this far with hardly any stack left. */
	bool tight;
	/* What lies below the stack pointer is lost at any time. */
	bool no_zone;

	/* ---- tactics ---- */

	/* Padding between its functions is of no use: an entry may be recorded later at once, and
	 * nothing is displaced to make room. */
	bool no_padding;
	/* Is padding there its own, so that no thread may be met there? NULL: none is. */
	bool (*has_padding)(const struct symbols *, struct range);
	/* Breakpoints are the runtime's own matter. */
	bool no_traps;
	/* May an entry be recorded where the stack pointer is lower than at the start? */
	bool (*may_lower)(const struct choice *);
};

/* Whose is a function? Never NULL. */
const struct runtime *runtime_of(const struct symbols *, const struct func *);
/* Before a module is judged. */
void runtimes_open(struct plan_impl *);
/* Does a runtime say that what looks like an address of code is a number? */
bool runtimes_is_number(const struct plan_impl *, raddr_t);
/* Is padding one runtime's own? */
bool runtimes_have_padding(const struct symbols *, struct range);

/* All; the first that has made a function is its own. And what all else is. */
#define RUNTIMES(X) X(go) X(ocaml)

#define X(name) extern const struct runtime runtime_##name;
RUNTIMES(X) X(c)
#undef X

#endif

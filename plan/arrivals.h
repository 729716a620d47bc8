/* SPDX-License-Identifier: MIT */
/* arrivals: which addresses of code does a module hold, make and go by? */
#ifndef PLAN_ARRIVALS_H
#define PLAN_ARRIVALS_H

#include "plan/impl.h"

/* suspects.c. Once all branches are known (ground_make): find all else that leads into text,
 * and what is not known of that. 0 or -ENOMEM. */
int arrivals_find(struct plan_impl *);
/* What a function has that arrivals_find is to look at. */
enum suspect {
	SUSPECT_GOAL = 1,	/* something goes by an address */
	SUSPECT_NAME = 2,	/* an address of code, or one that any code may have left in
				 * memory: what is added to that is judged, too */
	SUSPECT_BACK = 4,	/* it may change its way back: where its returns lead is to be
				 * proved */
	SUSPECT_TAKES = 8,	/* it loads its way back: what is made of that is judged */
	SUSPECT_DATA = 16,	/* it was judged, and data stand in it */
};

/* above.c: does a function write to what its caller returns by? 0 or -ENOMEM. */
int above_judge(struct plan_impl *);

/* arrival_notes.c */
void arrivals_suspect(struct plan_impl *, const struct func *, enum suspect);
/* A function, or an address, leads there, or names it. 0 or -ENOMEM. */
int arrivals_way(struct plan_impl *, raddr_t);
int arrivals_doubt(struct plan_impl *, raddr_t pc, enum unproved);
/* The bytes around `at` that no function has. */
struct range arrivals_gap(const struct plan_impl *, raddr_t at);
/* Is there nothing but padding from there to the next function? */
bool arrivals_pads(const struct plan_impl *, raddr_t);
enum { DOUBTS_MANY = 64 };	/* after which code of no function is looked at in a hurry */

/* May the name of this be one of code? In a segment that may run data stand, too, that code names:
 * strings. Nothing names the file's own headers and tables, but an address that is near code. */
bool arrivals_names_code(const struct plan_impl *, raddr_t);
/* May code be there? In a function, or where what stands there can run. */
bool arrivals_is_code(const struct plan_impl *, raddr_t);

/* One more place where control arrives, unless it is a number as a compiler has them. */
void arrivals_lead_to(struct plan_impl *, raddr_t);

struct value;
struct values;

/* Is it an address of the module, or the end of one of its segments, from which a table may be
 * read backwards? */
static inline bool arrivals_is_address(const struct plan_impl *p, raddr_t a)
{
	return a - p->span.start <= range_size(p->span) &&
		(symbols_holds(p->symbols, a) || symbols_holds(p->symbols, a - 1));
}

/* What code names by its distance from the PC is code, or data; but an address before all that is
 * one to which the least index that there is was added. */
static inline bool arrivals_is_outside(const struct plan_impl *p, raddr_t a)
{
	size_t left;

	/* Where addresses are numbers, those that the file holds may be others. */
	return (a < p->texts.end || (int64_t)a < 0) &&
		(p->symbols->is_pie || !symbols_holds(p->symbols, a)) &&
		!symbols_text(p->symbols, a, &left) && !symbols_is_tabled(p->symbols, a);
}

/* Where addresses are numbers: may one that is put into a frame be that of an instruction, of
 * whatever function? Where pages begin many are numbers, or say where all code does. */
static inline bool arrivals_may_be_place(const struct plan_impl *p, raddr_t a)
{
	return a % PAGE && ground_is_read(p, a);
}

enum { DISTANCES_HOLES = 4 };	/* that lead to no code, one after the other: a table's end */

/* distances.c. Code names this address: *kept if it may be a table of distances. 0 or
 * -ENOMEM. */
int arrivals_name(struct plan_impl *, raddr_t, bool *kept);
/* May a table of distances from there begin there? */
bool distances_may_be(const struct plan_impl *, raddr_t);
/* Is a value made by way of a table; of one that compilers make of a switch? */
bool distances_is_table(const struct value *);
bool distances_is_switch(const struct plan_impl *, const struct value *);
/* Do the entries of a value's table lead into text, as far as those near its start tell? */
bool distances_lead_to_text(const struct plan_impl *, const struct value *);
/* The table of a value; `proved`: the jump at `pc` goes by it. 0 or -ENOMEM. */
int distances_add(struct plan_impl *, raddr_t pc, const struct value *, bool proved);
/* Its i-th entry, or what stands before it; false: the file has none. */
bool distances_read(const struct plan_impl *, const struct table_at *, int64_t i, raddr_t *ret);
/* Once all are known: where they lead. 0 or -ENOMEM. */
int distances_read_all(struct plan_impl *);

/* verdicts.c: what the jump of a step goes by; `certain`: it may be something else than a
 * whole word. 0 or -ENOMEM. */
int verdict_note(struct plan_impl *, const struct body *, size_t step, const struct values *,
		 bool certain);

/* May a call that goes by one of these be one of the body's own middle? */
bool verdict_is_own_call(const struct body *, const struct values *);

/* arrivals.c: judge what a body goes by, as far as it is suspect (enum suspect). 0 or -ENOMEM. */
int arrivals_judge(struct plan_impl *, const struct body *, unsigned int suspects);
/* lives.c: which code of no function does something lead to (ground_is_live)? Once functions are
 * swept. 0 or -ENOMEM. */
int lives_find(struct plan_impl *);
/* unowned.c: the same as arrivals_judge of code that no function has, around `at`. With more ways
 * than `early`: of what only those lead to. */
int unowned_judge(struct plan_impl *, raddr_t at, size_t early);
/* ways.c: does code of no function that is jumped to surely not come back into one, but to its
 * start? */
bool unowned_leaves(const struct plan_impl *, raddr_t);
/* words.c: what data may lead to, by whatever its words may mean; once all tables are known.
 * 0 or -ENOMEM. */
int words_note(struct plan_impl *);
/* The same of the operands of an instruction, where addresses are numbers. */
void words_operand(struct plan_impl *, const uint8_t *bytes, const struct insn *);
/* Does it have four bytes, or what they are short of, that are an address of the module? All
 * others have nothing to do with any. */
bool words_has_number(const struct plan_impl *, const uint8_t *bytes, const struct insn *);
/* Of a number, as one that is written to memory. */
void words_note_number(struct plan_impl *, raddr_t);
/* vectors.c: may a vector be loaded there that has an address of code? */
bool vectors_may_load(const struct plan_impl *, const struct insn *, raddr_t at);
/* Where a body adds to one: by registers that may hold what it names, or by what it loads. 0 or
 * -ENOMEM. */
struct flow;
int vectors_judge(struct plan_impl *, struct flow *, uint32_t regs);
/* noreturn.c: calls that never come back end what they stand in. */
void noreturn_mark(struct plan_impl *, struct body *);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * impl: what the files of plan share with each other only.
 *
 * From the ground up: the ground (ground.c, pieces.c; sweep.c, ground_make.c) is the
 * module's text with a few bits for every byte; a body (body_steps.c, body.c; of its indirect
 * jumps goal.c, tables.c, indirect.c) is one function, decoded, with its exits; a window
 * (window.c) is a run of its instructions that may make room for a jump; choose.c
 * picks the windows of a probe.
 */
#ifndef PLAN_IMPL_H
#define PLAN_IMPL_H

#include "payload/page.h"
#include "plan/plan.h"
#include "plan/runtime.h"

/* Jumps never straddle a multiple of this, the smallest page there is. */

/* What may be true of one byte of text. */
enum layer {
	LAYER_TARGET,	/* control may arrive here other than by falling in */
	LAYER_FIXED,	/* and not only by jumps of one function to itself, or
			 * by edges: control that arrives cannot be led elsewhere */
	LAYER_START,	/* and it is the first byte of a function that is no
			 * fragment */
	LAYER_DEAD,	/* padding that control cannot reach, at most a page away
			 * from code */
	LAYER_TAKEN,	/* belongs to a site of this plan, or to an older one */
	LAYER_CROSSED,	/* an edge leads there, and perhaps one that was dropped since */
};

struct ground;

/* A direct jump, branch or call out of one function into the middle of
 * another, or anywhere into a fragment. */
struct edge {
	raddr_t to;		/* first, to be sorted by */
	int64_t back : 63;	/* from `to`, to where it comes from */
	uint64_t branch : 1;	/* conditional */
};

static inline raddr_t edge_from(const struct edge *e)
{
	return e->to + (raddr_t)(int64_t)e->back;
}

/* What an indirect jump by a register goes by. */
enum goes {
	GOES_WORD,		/* a whole word */
	GOES_SWITCH,		/* an entry of a table of distances from its own start */
	GOES_INSIDE,		/* places that are known, all of them in its own function */
	GOES_UNPROVED,
};

struct verdict {
	raddr_t pc;		/* first, to be sorted by: of a jump, or of a return
				 * that is none to the caller */
	raddr_t table;
	uint64_t goes;		/* enum goes */
};

/* Do calls of a function return? */
enum comes_back { COMES_UNKNOWN, COMES_BACK, COMES_NEVER };

/* A table of distances from `base`, which code goes by. */
struct table_at {
	raddr_t at, base;
	raddr_t end;		/* where the last entry that was read ends */
	raddr_t stop;		/* none begins there, or behind */
	uint32_t most;		/* bytes in which its entries begin; 0: not known */
	uint8_t width, scale, stride;
	bool extends;
	bool proved;		/* a jump goes by it: no other code reads its entries */
	bool shared;		/* and others, or one of which the function is not known; */
	raddr_t pc;		/* this one; 0: it is only named */
};

/* Data to whose address code adds what it finds by a pointer, of four bytes. */
struct based {
	raddr_t base;		/* first, to be sorted by */
	raddr_t pc;
};

/* An instruction that only a second reading of the code has found: see again.c. */
struct hidden {
	raddr_t at;		/* first, to be sorted by */
	enum {
		HIDDEN_PLAIN,
		HIDDEN_MAKES,	/* it is of the stack, or names an address */
		HIDDEN_GOAL,	/* control may leave there by an address */
		HIDDEN_DOUBTFUL, /* led to by what is a word by chance, perhaps */
	} kind;
};

/* A function writes above its own way back: where its arguments are, or its caller's frame. */
struct above {
	raddr_t func;		/* first, to be sorted by */
	raddr_t pc;
	raddr_t block;		/* from where on control falls to there; 0: it does come there */
	int32_t end;		/* of what is written, from its way back on */
};

/* A direct call, or a jump to another function once the frame is gone. */
struct handing {
	raddr_t to;
	uint64_t pc : 48;
	uint64_t own : 16;	/* how far above the way back of `to` is that of the function that
				 * calls it, at least; 0: it is the same */
};

struct step;
struct pick;

/* What a body needs memory for, and the next one can have. */
struct body_room {
	struct step *steps;
	struct range *pieces;
	uint32_t *at;		/* by BODY_STRIDE bytes of all pieces, one behind the other: the
				 * last step that begins there, if one does; else anything */
	size_t steps_cap, pieces_cap, at_cap;
};

struct plan_impl {
	const struct arch *arch;
	const struct symbols *symbols;
	struct ground *grounds;		/* one per text */
	size_t ngrounds;
	struct range texts;		/* from the first to the last */
	struct range span;		/* and of all that is loaded */
	bool *called;			/* by index in funcs: a call leads to its start,
					 * or its address is taken. Of interest where
					 * it may be a piece; NULL: none may */
	struct edge *edges;		/* sorted by `to` */
	size_t nedges, edges_cap;
	uint32_t *fragments;		/* indices in funcs, sorted by parent */
	size_t nfragments, fragments_cap;
	struct body_room spare;		/* for the next body */
	struct pick *picks;		/* room for those of one body */
	size_t npicks;
	uint64_t caught;		/* plan_options' */
	int32_t g;			/* where a thread has what it runs on, from the
					 * thread pointer; 0: unknown */
	bool has_thunks;		/* there may be some */
	uint64_t *budget;		/* bytes that may still be decoded again; shared by a
					 * crew: see crew_spend */
	unsigned int threads;		/* plan_options' */
	uint8_t *comes_back;		/* by index in funcs: enum comes_back */
	uint8_t *suspects;		/* by index in funcs: see arrivals.h */
	raddr_t *ways;			/* from functions, or by addresses, to what no
					 * function has */
	size_t nways, ways_cap;
	raddr_t *loners;		/* what no function has, and goes by a register */
	size_t nloners, loners_cap;
	struct above *highs;
	size_t nhighs, highs_cap;
	struct handing *handings;
	size_t nhandings, handings_cap;
	struct hidden *hidden;		/* sorted */
	size_t nhidden, hidden_cap;
	raddr_t *maybes;		/* what code names and may be a table of distances
					 * from there; sorted once all are known */
	size_t nmaybes, maybes_cap;
	struct verdict *verdicts;	/* of jumps by registers; sorted */
	size_t nverdicts, verdicts_cap;
	struct doubt *doubts;
	size_t ndoubts, doubts_cap;
	struct table_at *tables;
	size_t ntables, tables_cap;
	raddr_t *places;		/* that control is led to by what functions compute */
	size_t nplaces, places_cap;
	struct based *bases;		/* sorted */
	size_t nbases, bases_cap;
	bool bound;			/* there are doubts: any instruction may be one; */
	bool hurried;			/* and DOUBTS_MANY of them */
};

/* crew.c: may so many bytes be decoded once more? */
bool crew_spend(struct plan_impl *, uint64_t bytes);

/* ground_make.c */
int ground_make(struct plan_impl *);

/* ground.c */
void ground_free(struct plan_impl *);
bool ground_any(const struct plan_impl *, enum layer, raddr_t, size_t n);
/* Is an instruction in a layer? Behind its prefix it is the same but for that. */
bool ground_leads_to(const struct plan_impl *, enum layer, const struct insn *);
/* May control come there otherwise than by direct jumps of its function, as far as is known by
 * now? */
bool ground_comes_to(const struct plan_impl *, const struct insn *);
/* By step: is it a target? */
void ground_mark_led(const struct plan_impl *, const struct step *, size_t n, uint32_t *ret);
bool ground_all(const struct plan_impl *, enum layer, raddr_t, size_t n);
/* The first from `a` on that has the bit; `end`: none before that has. */
raddr_t ground_next(const struct plan_impl *, enum layer, raddr_t a, raddr_t end);
void ground_take(struct plan_impl *, raddr_t, size_t n);
void ground_release(struct plan_impl *, raddr_t, size_t n);
/* One more place where control may arrive: padding behind it is not dead. */
void ground_add_target(struct plan_impl *, raddr_t);
/* Is it a piece of another function, as its symbol says, or how it is entered? */
bool ground_is_fragment(const struct plan_impl *, const struct func *);
/* May it be one, as far as calls tell? It may have come to count as a function. */
bool ground_may_be_piece(const struct plan_impl *, const struct func *);
/* The first edge that leads to one of so many bytes, or beyond: an index in edges; their number, if
 * none leads to these. */
size_t ground_edge(const struct plan_impl *, raddr_t to, size_t n);

/* Has an instruction been read that begins here? */
bool ground_is_read(const struct plan_impl *, raddr_t);
/* Where addresses are numbers, its function names it. */
void ground_note_number(struct plan_impl *, raddr_t);
/* One that an entry of a table leads to, perhaps by chance: `strays`: by one of which a jump goes,
 * but of another function; else of which nothing is known to go by it. */
void ground_add_entry(struct plan_impl *, raddr_t, bool strays);
/* Does nothing else lead there? It may be data. */
bool ground_is_stray(const struct plan_impl *, raddr_t);
bool ground_is_listed(const struct plan_impl *, raddr_t);
/* Does code name it? Then it may be data. */
bool ground_is_named(const struct plan_impl *, raddr_t);
/* Is it an instruction of code that no function has, and that something leads to? */
bool ground_is_live(const struct plan_impl *, raddr_t);
/* words.c: may some word of data lead to the instruction that begins here? */
bool words_lead_to(const struct plan_impl *, raddr_t);
/* The first place at or behind `a` that some word may lead to; UINT64_MAX: there is none. */
raddr_t words_next(const struct plan_impl *, raddr_t a);

/* What the exact decoder said of an instruction. */
enum exact { EXACT_NOT_ASKED, EXACT_AGREES, EXACT_DIFFERS };

/* One instruction of a body. */
struct step {
	struct insn insn;
	uint16_t piece;
	uint8_t exact;		/* enum exact */
	bool ends;		/* and never goes on behind it */
	bool live;		/* control can get here, */
	bool guessed;		/* as far as is known: it may be data */
	bool exit;		/* the function is left here */
	bool commits;		/* control may come to an INSN_COMMITS from here, past no
				 * INSN_RESERVES */
	bool thunk;		/* a jump to what jumps on by a register */
	uint8_t by_thunk;	/* 1 + that register, of a call, too; 0: none */
	uint32_t pick;		/* 1 + the pick whose window holds it, 0: none */
};

/* A direct jump or branch of a body, and where it leads. */
struct link {
	raddr_t to;
	uint32_t step;
	uint32_t at;		/* of a flow: the step there; as many as there are: none */
};

struct body {
	struct plan_impl *impl;
	const struct func *func;
	struct body_room room;		/* owns both */
	struct range *pieces;		/* the main range first, then fragments */
	size_t npieces;
	struct step *steps;		/* piece by piece, ascending in each */
	size_t nsteps;
	size_t entry;			/* the step where the entry's jump may
					 * stand: see compiled_entry */
	size_t nexits;
	size_t njumps;			/* indirect ones, */
	bool may_switch;		/* and one that may go by a table */
	size_t falls;			/* 1 + the last step of a piece, behind which
					 * control goes on into another function, at
					 * its start; 0: none does */
	const struct runtime *runtime;	/* of the language that it is written in */
	uint16_t lowered;		/* the stack pointer there, from what it was
					 * at the first step */
	size_t ready;			/* steps behind which only it may be recorded */
	bool last;			/* nothing more may be tried later */
	size_t ncheck;			/* steps, from the entry on, that ask for
					 * room on its stack */
	bool place;			/* `entry` is none, but a place to be marked */
	bool tight;			/* there is hardly any stack left where it is
					 * recorded */
	uint8_t both_ways;		/* tables_lead_both_ways, and 1; 0: not asked */
	bool unsure;			/* it has an indirect jump that may lead
					 * to any of its instructions */
	bool loops;			/* it jumps back to its own entry */
	bool unowned;			/* of code that no function has */
	bool open;			/* not all of its jumps are known */
	bool parted;			/* it cannot be read, but for what is read twice */
	bool has_data;			/* among its code */
	bool exclusive;			/* it has an INSN_COMMITS; `commits` of its steps says where
					 * one may come to it */
	bool hides;			/* among what it does not read control may leave by an
					 * address; */
	bool hides_making;		/* something of the stack is, or names an address */
	bool may_land;			/* windows may hold targets: redirect.c */
	struct link *links;		/* sorted by `to`; NULL: not made yet */
	size_t nlinks;
	enum refusal refusal;		/* of the whole probe */
	enum refusal entry_only;	/* why the exits are not certain */
};

/* body.c. What is wrong with a function is a value in the body; errors are
 * -ENOMEM only. */
int body_make(struct plan_impl *, const struct func *, struct body *ret);
/* The same of code that no function has; `f` has its range. */
int body_read_unowned(struct plan_impl *, const struct func *f, struct body *ret);
/* Its pieces and steps only: what leads where is not judged. */
int body_read(struct plan_impl *, const struct func *, struct body *ret);

/* Of a body that is made, only this place is asked for. */
void body_set_place(struct body *, raddr_t);

/* body_steps.c */
void body_clear(struct body *);
void body_room_free(struct body_room *);
static inline bool body_has(const struct body *b, raddr_t a)
{
	for (size_t i = 0; i < b->npieces; i++)
		if (range_has(b->pieces[i], a))
			return true;
	return false;
}
enum { BODY_STRIDE = 16 };
/* Room in `at` for the steps of this piece, from its first byte on. NULL: there is no memory. */
uint32_t *body_places(struct body *, size_t piece);
/* The step there; nsteps: none begins there. */
size_t body_step(const struct body *, raddr_t);
/* A jump to here would pass the entry's jump again: iterations would be counted
 * as calls that never end. See redirect.c. */
bool body_is_entry(const struct body *, raddr_t);
/* Does control never come to what follows an instruction of this kind? */
static inline bool insn_ends(const struct insn *in)
{
	return in->kind == INSN_JUMP || in->kind == INSN_JUMP_INDIRECT ||
	       in->kind == INSN_RETURN || in->kind == INSN_STOP;
}

/* Is it a breakpoint? A handler or a debugger may go on behind it. */
static inline bool insn_may_resume(const struct arch *arch, const uint8_t *p,
				   const struct insn *in)
{
	return in->kind == INSN_STOP && arch->is_padding(p, in->size);
}

/* One more piece, unless it is one already. */
int body_add_piece(struct body *, struct range);
/* Take a fragment that no function is known to own as a piece of this body. */
int body_adopt(struct body *, raddr_t);
/* Keep the first reason why exits are not certain. */
void body_doubt(struct body *, enum refusal);

/* The register by which what stands there jumps on, if it is a thunk; -1. */
int body_thunk(const struct plan_impl *, raddr_t);

/* May it lead to any place, as far as its own bytes tell? */
static inline bool step_is_indirect(const struct step *s)
{
	return s->insn.kind == INSN_JUMP_INDIRECT || s->thunk;
}

/* goal.c. Is the stack here as it was at the entry? Only then can a jump be a tail call.
 * -ENOENT if nothing says so. */
int goal_frame_is_gone(const struct body *, raddr_t pc);
/* Is this exit, a return or an indirect jump, none to the caller, or with another stack
 * pointer than a return's? It goes by what was pushed just before, by its own way back that
 * it has popped, from another stack, or by what lies below the stack pointer, where records
 * are made. */
bool goal_is_elsewhere(const struct body *, size_t step);

/* tables.c: adopt what the jump tables lead to that are named from step `first` on, if
 * there is a jump by now that may go by one. */
int tables_adopt(struct body *, size_t first);

/* verdicts.c: what an indirect jump by a register goes by, and its table. */
enum goes arrivals_goes(const struct plan_impl *, raddr_t pc, raddr_t *table);
/* Is it known that a jump goes by what is not known? */
bool arrivals_doubts(const struct plan_impl *, raddr_t pc);
/* Does this return, or jump to another function, have a way back that the function itself
 * has put there? Or may this call lead into the function that calls? */
bool arrivals_returns_otherwise(const struct plan_impl *, raddr_t pc);

/* whole.c: doubt exits of a body that may jump with a frame up, or with their way back dropped,
 * where nothing but its code tells of its frame. 0 or -ENOMEM. */
int whole_doubt_jumps(struct body *);

/* indirect.c */
enum indirect {
	INDIRECT_INSIDE,	/* a jump table: all its targets are known */
	INDIRECT_TAIL,		/* leaves the function */
	INDIRECT_UNSURE,
};

/* Find the jump tables of a body whose pieces and steps are complete; their
 * entries become targets. `*ret` (owned by the caller) has what became of
 * each JUMP_INDIRECT step in order. */
int indirect_resolve(struct body *, enum indirect **ret);

/* live.c */
/* May some word of data lead to a step? Where control does not fall in (`prefix`) also behind its
 * prefix, as ground_leads_to. */
bool body_has_word_to(const struct body *, size_t step, bool prefix);
/* Where can control be? `all`: at all that stands behind an end, too. 0 or -ENOMEM. */
int live_mark(struct body *, bool all);
/* What may be data is not; then exits may be doubtful. `indirect`: of each indirect jump. */
void live_doubt(struct body *, const enum indirect *indirect);
/* May it leave the function, or begin it anew? */
bool live_may_leave(const struct body *, const struct insn *);

/* A run of steps that may make room for a jump. */
struct window {
	size_t first, last;	/* steps */
	uint8_t size, dead;
	uint8_t stays;		/* a pun's: from this byte on nothing is written, for something
				 * leads there; 0: all of it may be */
	uint8_t level;		/* 0, or links lead strictly inside: see struct
				 * site; 1 until they are displaced */
};

/* compiled.c */
/* The step where the entry's window begins: what the compiler has left for a
 * tracer, behind a landing pad that is enforced, or the first. */
size_t compiled_entry(const struct body *);
/* Does this window of an entry hold what the compiler has left? */
bool compiled_is_site(const struct body *, const struct window *);
/* Does a sled begin with this step? An exit that does is not to be moved. */
bool compiled_is_sled(const struct body *, size_t step);
/* The step that jumps to this exit lead to: a nop before the sled, or the sled. */
size_t compiled_sled_begin(const struct body *, size_t exit);
/* Does a sled that is an exit begin here, or a nop that jumps to it lead to? */
bool compiled_is_exit(const struct body *, raddr_t);
/* Let no site touch a sled. */
void compiled_keep_sleds(struct plan_impl *);

/* window.c: may a jump of `need` bytes replace steps first..last? The rule
 * that says no, or REFUSED_NONE and the window in *ret. */
enum refusal window_check(struct body *, size_t first, size_t last, size_t need,
			  struct window *ret);
/* Where there is no room from a step on: is there padding, in which no jump may stand, since
 * something leads there (REFUSED_BRANCH_INSIDE) or may (REFUSED_JUMP_TABLE)? */
enum refusal window_short(const struct body *, size_t first, size_t need);
/* Of the first `most` bytes of these steps, how many may be changed, so that a
 * thread that goes on at one of the others finds what was there? */
size_t window_room(const struct body *, size_t first, size_t last, size_t most);
/* A place for a full jump in padding, within reach of a short jump at `from`,
 * 0 if there is none. */
raddr_t window_hole(const struct body *, raddr_t from);

/* exclusive.c: would a record before this step make a store of the program's fail? */
bool exclusive_is_parted(struct body *, size_t step);

/* later.c: the first step behind the entry, and none behind `most`, where the entry may
 * be recorded; *lowered are the bytes by which the stack pointer is lower there. 0: none. */
size_t later_step(struct body *, size_t most, size_t *lowered);
/* Has memory been reached by the same register before, on every way that comes here? */
bool later_is_reached(const struct body *, size_t step);

/* redirect.c: find a body's links. 0 or -ENOMEM. */
int redirect_prepare(struct body *);
/* Can all control that arrives at `a` be led elsewhere? What brings it are links then. */
bool redirect_covers(const struct body *, raddr_t a);
/* The first link to `to` or beyond: an index in links. */
size_t redirect_link(const struct body *, raddr_t to);

/* host.c: the same for steps near an exit, behind the jump of a site that is
 * made for that; its window in *ret. */
raddr_t host_find(struct body *, size_t exit, raddr_t from, struct window *ret);

/* The longest window of a punned jump: steps first..last must be in it, its size
 * is that of whole instructions and `dead` whatever padding follows them. */
enum refusal window_pun(struct body *, size_t first, size_t last,
			struct window *ret);

/* A breakpoint over one step. */
enum refusal window_trap(struct body *, size_t step, struct window *ret);

/* pun.c: a window from the entry on, or around an exit, for a punned jump that
 * may lead somewhere in `space` (empty: anywhere). */
bool pun_entry(struct body *, struct range space, struct window *ret);
bool pun_exit(struct body *, size_t exit, struct range space, struct window *ret);
/* Bytes at the start of a window that a pun may change, and the most that it
 * then keeps behind them; 0: the text ends too early. */
size_t pun_room(const struct body *, const struct window *, size_t *kept);

/* choose.c */
struct choice {
	bool entry_only;	/* exits are not wanted */
	bool may_short;		/* a short jump may take padding */
	bool may_host;		/* and displace live code when there is none */
	bool may_pun;		/* a pun may keep bytes of what follows */
	bool may_trap;		/* a trap may stand anywhere */
	struct range space;	/* where its jumps can lead */
	bool last;		/* nothing more may be tried later */
};

/* Fill sites, refusal and entry_only of a probe. 0, -ENOMEM, or 1 when only
 * a later tactic could place more (nothing is taken then). */
int choose_sites(struct body *, const struct choice *, struct probe *);

/* place.c */
/* No stub of this site is longer, wherever it comes to be. */
uint16_t place_bound(const struct body *, const struct window *,
		     const struct site *);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * plan: where can the jumps of a function stand, what does each displace, and
 * what is in its stub? Or a refusal.
 *
 * Pure: bytes in, plan out; it runs on a file as well as on a process, and
 * knows neither. All addresses are link-time addresses of ONE module.
 *
 * A probe is one entry and every exit of a function. A site is a window
 * [pc, pc + window) of whole instructions that a jump replaces; its stub holds
 * them, relocated, with recording calls where an entry or an exit is, and a
 * jump back behind the window unless control cannot get there. One window may
 * hold the entry and exits (a straight-line function is one site).
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "arch/arch.h"
#include "symbols/symbols.h"

/*
 * Why a function is not probed at all (REFUSED_*), or has its entry probed and
 * its exits not (the same values, in struct probe's entry_only). This list is
 * the enum, the text that users see, and inject(1)'s table.
 */
#define REFUSALS(X) \
	X(NONE, "none", "not refused") \
	X(TOO_SHORT, "too-short", \
	  "no room for a jump: the function and the padding around it are too short") \
	X(BRANCH_INSIDE, "branch-inside", \
	  "a branch lands inside the bytes that a jump would replace, and cannot " \
	  "be led elsewhere") \
	X(LOOP_ENTRY, "loop-entry", \
	  "the function jumps back to its own first instruction, and there is no " \
	  "room for another jump where it does") \
	X(UNMOVABLE, "unmovable", "an instruction in the way cannot be moved") \
	X(MAY_FAULT, "may-fault", \
	  "an instruction in the way may fault, and the process handles that signal") \
	X(UNKNOWN_INSN, "unknown-instruction", \
	  "an instruction in the way is not known to the decoder") \
	X(SYSCALL_INSIDE, "syscall-inside", \
	  "a system call stands in the bytes that a jump would replace") \
	X(CALL_INSIDE, "call-inside", \
	  "a call stands in the middle of the bytes that a jump would replace") \
	X(PAGE_CROSSING, "page-crossing", "the jump would straddle two pages") \
	X(UNREADABLE, "unreadable-code", "the code cannot be decoded") \
	X(JUMP_TABLE, "indirect-jump", "an indirect jump could not be resolved") \
	X(SHARED_BODY, "shared-body", \
	  "another function jumps into the middle of this one, or it into another") \
	X(EXIT_NO_ROOM, "exit-no-room", "an exit has no room for a jump") \
	X(OUT_OF_REACH, "out-of-reach", "no memory for the stub within reach of a jump") \
	X(FOREIGN_PATCH, "foreign-patch", "foreign breakpoint or jump") \
	X(PROBED, "probed", "is probed already") \
	X(TEXT_DIFFERS, "text-differs", "the code in memory differs from the file") \
	X(SHARED_TEXT, "shared-text", "the code is mapped shared: writing would change the file") \
	X(MOVED_TEXT, "moved-text", \
	  "the program has moved its code to other memory, as for huge pages") \
	X(UNLOADED, "unloaded", "its library was unloaded meanwhile") \
	X(RESERVED, "reserved", "no call enters it, or its bytes are looked at") \
	X(LITTLE_STACK, "little-stack", \
	  "neither its stack nor its thread is certain to have room for a record") \
	X(LEFT_OTHERWISE, "left-otherwise", \
	  "it is not left by a return to its caller, or by two processes") \
	X(FRAGMENT, "fragment", "a piece of another function, that nothing calls") \
	X(IFUNC, "ifunc", "an indirect function's resolver") \
	X(LINKAGE, "linkage", \
	  "a call through the linkage table ends in the function that it leads to") \
	X(TRAP_UNSAFE, "trap-unsafe", \
	  "only a breakpoint has room, and the process may block, ignore or confine " \
	  "its signal") \
	X(NO_INSTRUCTION, "no-instruction", "no instruction is known to begin at that place") \
	X(EXCLUSIVE, "exclusive", \
	  "it stands between an exclusive load and the store that a record would make fail") \
	X(PLACE, "place", "a place within a function is passed, and not left") \
	X(BUSY, "busy", "a thread could not be moved out of the bytes that a jump would replace") \
	X(ENTRY_ONLY_ASKED, "asked", "only entries were asked for") \
	X(CONDITION, "condition", "it has no such value as the condition of -w asks for") \
	X(NO_MEMORY, "no-memory", "out of memory")

enum refusal {
#define X(id, word, text) REFUSED_##id,
	REFUSALS(X)
#undef X
};

const char *refusal_word(enum refusal);	/* "branch-inside" */
const char *refusal_text(enum refusal);	/* the sentence */

enum tactic {
	TACTIC_NONE,
	TACTIC_SITE,		/* a full jump over what the compiler left for one */
	TACTIC_JUMP,		/* a full jump over whole instructions */
	TACTIC_SHORT,		/* a short jump to a hole in padding, or
				 * behind the jump of a host */
	TACTIC_PUN,		/* a full jump whose last bytes are those that
				 * stand there already */
	TACTIC_TRAP,		/* a breakpoint, whose signal leads to the stub;
				 * only if asked for */
	TACTICS
};

const char *tactic_word(enum tactic);	/* "site", "jump", "short", "pun", "trap" */

enum {
	SITE_INSNS = 16,	/* most instructions in one window */
};

/* Bytes of text that are written over. */
struct patch {
	raddr_t pc;
	uint8_t len;		/* 0: none */
	uint8_t old[ARCH_PATCH_MAX];
};

struct site {
	raddr_t pc;		/* start of the window */
	uint8_t window;		/* bytes of whole instructions displaced */
	uint8_t dead;		/* dead padding bytes behind them that the jump
				 * covers too */
	uint8_t tactic;		/* enum tactic */
	bool entry;		/* the window starts at the function's entry */
	uint8_t check;		/* so many bytes of it come before the recording
				 * call of the entry: see arch->stack_check */
	uint16_t lowered;	/* by so many bytes is the stack pointer lower where
				 * the window of the entry begins than where the
				 * function does */
	bool place;		/* the entry is none, but a place within the function, `check`
				 * bytes behind the window's start */
	bool leaves;		/* control that comes to the window's end leaves
				 * the function there, by an exit that stays
				 * where it is: the stub records it last */
	bool host;		/* neither entry nor exit: displaced only so that
				 * a later site's hole fits behind its jump */
	uint8_t level;		/* 0, or jumps of the function lead strictly
				 * inside. They are displaced too, to lead to
				 * the stub, by sites of a lower level or by
				 * this one: those are written before it, and
				 * restored after it */
	uint8_t nexits;		/* exits inside the window, or right behind */
	uint16_t exits;		/* by instruction, the first's is bit 0: a recording
				 * call for an exit precedes it */
	uint8_t ninsns;
	uint8_t kept;		/* bytes behind the jump that a pun needs as they are;
				 * until it has an island: the most there can be */
	uint16_t stub_most;	/* bytes; no stub of it is longer */
	const uint8_t *insns;	/* where each instruction begins, from the window's
				 * start; behind all sites of the probe */
	struct patch hole, jump;	/* in the order in which they are written */
};

/* Which set of the payload's routines records the calls of a function? */
enum plan_routines {
	ROUTINES_C,
	ROUTINES_MOVED,		/* on stacks that a runtime makes, and moves */
	ROUTINES_TIGHT,		/* with hardly any stack */
};

/* The place of a probe without sites: a mark of another one tells of it. */
#define PLAN_ELSEWHERE UINT64_MAX

struct probe {
	const struct func *func;
	raddr_t place;		/* what is marked is that control comes there, within the
				 * function, and no call is recorded; 0: calls are */
	uint8_t refusal;	/* enum refusal; NONE: probed */
	uint8_t entry_only;	/* enum refusal; NONE: all exits are probed */
	uint8_t trap_size;	/* a site that comes to have no place becomes a
				 * trap of so many bytes; 0: may not */
	uint8_t exit_refusal;	/* enum refusal, as plan_options has it */
	uint8_t routines;	/* enum plan_routines: by which its calls are recorded */
	bool framed;		/* a place that has the stack pointer lower than where the function
				 * began, where calls push nothing: see REC_FRAMED */
	int32_t g;		/* if tight, where from the thread pointer g is; 0: it has none */
	bool linked;		/* stubs have jumps into each other: place every
				 * site twice, the first time to learn where
				 * they lead */
	const struct site *sites;	/* exits first, the site with the entry last; one
				 * block with the insns of all */
	size_t nsites;
	size_t nexits;		/* exit instructions found, probed or not */
};

/* Why it is not known where an address of code leads. */
enum unproved {
	UNPROVED_SUM,		/* it is computed, of what is not known */
	UNPROVED_BACK,		/* it writes to what the function's caller may return by */
	UNPROVED_UNREAD,	/* not all of the function could be read */
	UNPROVED_TABLE,		/* an entry of a table, of which the end is not known */
};

/* An instruction that goes by such an address, or makes one. */
struct doubt {
	raddr_t pc;
	uint8_t why;		/* enum unproved */
};

/* What a function's exits lead to that are direct jumps: other functions, in which its calls go
 * on. (Of an exit that is an indirect jump that is not known.) */
enum { ONWARD_MOST = 4 };
struct onward {
	raddr_t to[ONWARD_MOST];	/* each once; the first of them */
	size_t n;
};

/* A value: it does not change once it is made. What a process makes of it: placement.h. */
struct plan {
	const struct arch *arch;
	const struct symbols *symbols;
	const struct probe *probes;	/* in the order of the selection */
	size_t nprobes;
	/* Instructions of the module, in the order of their addresses, by which control may
	 * go to an unknown place. If there is any, no window changes more than one
	 * instruction, and none uses padding: control may arrive anywhere. */
	const struct doubt *doubts;
	size_t ndoubts;
};

struct plan_options {
	bool entry_only;	/* --entry-only */
	/* Of each function that is selected an enum refusal: why its exits are not
	 * to be probed. NULL: nothing speaks against any. */
	const uint8_t *exit_refusals;
	/* Likewise where in it is the place of which alone is asked; 0: it is asked of the
	 * function, PLAN_ELSEWHERE: of nothing. NULL: of all. A function may be selected for many
	 * places. */
	const raddr_t *places;
	/* Windows and holes that earlier plans have in the same text: no site
	 * may touch them. */
	const struct range *taken;
	size_t ntaken;
	/*
	 * Where there is no padding, let a short jump have its hole behind the jump
	 * of a host (unoptimised code needs that: half of its exits). A host's
	 * jump then counts as a hole, for it lies below the hole that it holds:
	 * a caller that sets this writes holes in ascending order of their addresses
	 * before any other jump, and restores them in descending order after all
	 * others.
	 */
	bool hosts;
	/* Puns, too: a caller that sets this finds islands, or gives up the sites
	 * that have none. */
	bool puns;
	/* Where nothing else is left, traps: a caller that sets this has a handler in
	 * the target. */
	bool traps;
	/* Signals that the process handles, bit n - 1 for signal n: a function that
	 * does nothing but raise one of these has to stay where it is. */
	uint64_t caught;
	/* Where else control may arrive: what other modules lead to. In any order. */
	const raddr_t *arrivals;
	size_t narrivals;
	/* Where memory can be for islands, if that is known; empty: anywhere. */
	struct range space;
	/* Threads that plan together, 8 at most; 0: as many as there are processors. What is
	 * planned does not depend on it. */
	unsigned int threads;
	/* Called now and then with work done and to do; may be NULL. */
	void (*progress)(void *ctx, size_t done, size_t total);
	void *ctx;
};

/* Make functions (FUNC_PLT) of the stubs through which a file calls others. To
 * be called right after symbols_open. 0 or -ENOMEM. */
int plan_linkage(const struct arch *, struct symbols *);

/* The language of which a function is, if a runtime of that language has a say in how its calls
 * end; NULL: they end as C's do. */
const char *plan_language(const struct symbols *, const struct func *);
/* Those languages, for a message: "A, B and C". */
const char *plan_languages(void);

/* Why a function is to be left alone, or its exits are, by what a runtime does with it: RESERVED,
 * LEFT_OTHERWISE or NONE. `raw` is one of its symbols; `system`: the module holds the C library
 * or the loader. */
enum refusal plan_reserved(const struct symbols *, const struct func *, const char *raw,
			   bool system);

/* What a call of a function says of the others on its stack, which the runtime of a language makes
 * and leaves. */
enum plan_ending {
	ENDING_NONE,
	ENDING_STACK,	/* the stack ends with it */
	ENDING_LEAVES,	/* it leaves the stack for another; those around it that are LEFT have
			 * ended */
	ENDING_LEFT,	/* it never returns */
};
enum plan_ending plan_ending(const char *name);

/* Does this byte belong to a sled, which the program's own runtime rewrites as it
 * likes? No site is ever there. */
bool plan_in_sled(const struct arch *, const struct symbols *, raddr_t);

/*
 * Decide the sites of `n` functions of one module. Refusals are values in the
 * probes, not errors; -ENOMEM and -EBADMSG (functions that overlap without
 * end) are. The symbols must outlive the plan; the options may be NULL.
 */
int plan_make(const struct arch *, const struct symbols *,
	      const struct func *const *selected, size_t n,
	      const struct plan_options *, const struct plan **ret);
void plan_free(const struct plan *);		/* NULL is legal */

/* Of a probe of the plan whose exits are probed. */
void plan_onward(const struct plan *, const struct probe *, struct onward *ret);

/* Of the places that a jump can lead to, the lowest that is not below `from`; false: none. */
bool jump_set_next(const struct jump_set *, raddr_t from, raddr_t *ret);
bool jump_set_has(const struct jump_set *, raddr_t);

#endif

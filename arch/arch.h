/* SPDX-License-Identifier: MIT */
/*
 * arch: all that the program knows of instruction sets.
 *
 * Two halves. The pure half (arch/<name>/code.c) is bytes in, bytes out; it is
 * compiled on every host, so that arm64 patches are unit-tested on x86-64. The
 * live half (arch/<name>/regs.c) knows the registers of a stopped thread and
 * is compiled for the host only. The same file names in every directory, so
 * that `diff -r arch/x86_64 arch/arm64` is the porting guide.
 *
 * No other directory has an instruction-set #ifdef.
 */
#ifndef ARCH_ARCH_H
#define ARCH_ARCH_H

#include "base/base.h"

enum {
	ARCH_INSN_MAX = 15,	/* longest instruction, bytes */
	ARCH_RELOCATED_MAX = 48,/* longest relocated form of one instruction */
	ARCH_RECORD_MAX = 72,	/* longest recording call */
	ARCH_TIGHT_MAX = 216,	/* and where hardly any stack is left */
	ARCH_JUMP_MAX = 16,	/* longest jump, wherever it is written */
	ARCH_PATCH_MAX = 8,	/* longest one over a program's own code, with what
				 * a pun keeps */
	ARCH_REGISTERS_MAX = 16,/* most general registers of any set that has `effect`, which
				 * has a bit for each */
};

/* What an instruction does to the flow of control. */
enum insn_kind {
	INSN_PLAIN,		/* falls through */
	INSN_JUMP,		/* unconditional, to dest */
	INSN_BRANCH,		/* conditional, to dest, or falls through */
	INSN_CALL,		/* to dest, and comes back */
	INSN_CALL_INDIRECT,
	INSN_JUMP_INDIRECT,
	INSN_RETURN,
	INSN_SYSCALL,		/* enters the kernel; the PC may rest after it */
	INSN_STOP,		/* ud2, hlt, int3: control does not go on */
	INSN_UNKNOWN,		/* the full decoder does not know it: its size is
				 * that of the fallback, and it is never moved */
};

enum insn_flag {
	INSN_PCREL = 1,		/* has an operand relative to the PC: see ref */
	INSN_PINNED = 2,	/* must not be moved: unknown, or its meaning
				 * depends on where it stands */
	INSN_NOP = 4,		/* does nothing: padding when it is dead */
	INSN_INDEXED = 8,	/* indirect jump through memory with an index
				 * register: a jump table (x86 `jmp *T(,%r,8)`) */
	INSN_SLOT = 16,		/* indirect jump or call through one fixed,
				 * PC-relative word (`jmp *GOT(%rip)`); ref */
	INSN_LANDING = 32,	/* landing pad for indirect branches (endbr64,
				 * bti): stays where it is; patch behind it if
				 * arch->keeps_landing */
	INSN_NOTRACK = 64,	/* an indirect jump marked as a jump table's */
	INSN_BY_REGISTER = 128,	/* indirect jump or call by a register */
	INSN_DISTANCE = 256,	/* loads four bytes and extends their sign, as what goes by a
				 * table of distances does */
	INSN_CONSTANT = 512,	/* loads what stands at ref, up to dest: data among the code */
	INSN_RESERVES = 1024,	/* loads for an exclusive access (ldxr), or gives one up (clrex) */
	INSN_COMMITS = 2048,	/* ends it: stores if nothing else was stored since (stxr) */
};

struct insn {
	raddr_t pc;		/* link-time address of its first byte */
	raddr_t dest;		/* of JUMP, BRANCH, CALL, CONSTANT */
	raddr_t ref;		/* address named by a PC-relative operand, or by
				 * the absolute displacement of an INDEXED jump */
	uint8_t size;		/* bytes, never 0 after a successful decode */
	uint8_t kind;		/* enum insn_kind */
	uint16_t flags;		/* enum insn_flag */
};

/* What an instruction sets a general register to. */
enum effect_op {
	EFFECT_KEEP,		/* it sets none, but for `others` */
	EFFECT_MOVE,		/* to `base` */
	EFFECT_CUT,		/* to the low half of `base` */
	EFFECT_WIDEN,		/* to the low half of `base`, sign-extended */
	EFFECT_NUMBER,		/* to `number` */
	EFFECT_SUM,		/* to base + index * scale + number */
	EFFECT_LOAD,		/* to `width` bytes of memory */
	EFFECT_ADD_LOAD,	/* to itself and 8 bytes of memory, added */
	EFFECT_MAY_MOVE,	/* to `base`, or it stays as it is */
	EFFECT_MAY_LOAD,	/* to 8 bytes of memory, or it stays as it is */
	EFFECT_CODED,		/* to what hides its value, or shows it again: rotated, or
				 * xor with a secret */
	EFFECT_POP,		/* to what is taken from the stack */
	EFFECT_SWAP,		/* to `base`, and that to this one */
	EFFECT_CLIP,		/* to the low bits of `base`: at most `number` */
	EFFECT_SHIFT,		/* to itself, `number` bits to the left */
	EFFECT_BACK,		/* to what some vector register has kept */
	EFFECT_RETURNED,	/* to what a call returns */
};

/* The effect of an instruction on general registers and memory. Memory, if it names any,
 * is at base + index * scale + number: registers of before it, but for a stack pointer that
 * it pops by. */
struct effect {
	uint8_t op;		/* enum effect_op */
	int8_t reg;		/* that it sets; -1: none */
	int8_t base, index;	/* registers, -1: none */
	uint8_t scale;
	uint8_t width;		/* bytes that are loaded, or stored; 0: not told */
	bool extends;		/* what is loaded is sign-extended */
	bool cut;		/* of the sum, or what is shifted, only the low half stays */
	bool named;		/* `number` is an address, from the PC */
	bool memory;
	bool thread;		/* that of the thread's own, or by half an address */
	bool stores;		/* writes memory: `source`, or a number (-1) */
	bool computes;		/* what it writes comes from what was there */
	bool forbidden;		/* a program may not do it: that is data */
	bool pushes, pops;	/* onto the stack, `source`; from there to memory */
	int8_t source;
	int8_t vector;		/* register that a general one (`source`) is kept in, or from
				 * which it is taken back; -1: none */
	int8_t stored;		/* vector register that is written to memory; -1: none */
	int8_t copied;		/* register by which memory is reached that is written; -1: none */
	int8_t count;		/* register that says how many of that are written, one behind the
				 * other; -1: one */
	uint8_t word;		/* of `stored` that is written first: 0 is the lowest */
	uint16_t others;	/* bit n: register n is set to something unknown, too, */
	uint16_t changes;	/* that comes from what it was before */
	bool writes;		/* what is stored, or pushed, is a number */
	bool leaves;		/* the stack is as it was when the frame's register was set to it
				 * and pushed */
	int64_t number;
	int64_t written;	/* if it writes one */
};

_Static_assert(ARCH_REGISTERS_MAX == 8 * sizeof(((struct effect *)0)->others), "a bit each");

/* What that comes from which an instruction sets registers to, where its effect does not tell, or
 * which it leaves in memory where something was before (`computes`). */
struct effect_of {
	uint32_t of;		/* bit n: register n; 1 << EFFECT_MEMORY: memory */
	uint16_t parts;		/* bit n: of register n only a part is set */
	uint8_t width;		/* bytes that are left in memory; 0: not told */
	bool cut;		/* only the low half stays, of less than eight bytes */
	bool differs;		/* it is what was there, less the other operand */
	bool hashes;		/* it is a product, or what two registers differ in */
	bool high;		/* it is at least 2 GiB, whatever it comes from, and less than 4 */
};

enum { EFFECT_MEMORY = ARCH_REGISTERS_MAX };

/* What a look at an instruction tells: of most, none of these. */
enum glance {
	GLANCE_STACK = 1,	/* it may write to the stack, or change where that is */
	GLANCE_LOADS = 2,	/* or load from there */
	GLANCE_COPIES = 4,	/* it may put all that a general register holds into another one,
				 * or a sum with it */
};

/* Of what does no more than to write to memory. */
struct only_stores {
	int8_t base;		/* memory at this register and `number`; -1: not even that */
	uint8_t most;		/* bytes that it writes, at most */
	int64_t number;
};

/* Which words of eight bytes are made of which. */
enum vector_words {
	VECTOR_MIXED,		/* each of all of them, as far as is told */
	VECTOR_SAME,		/* each of the same one, of `low`, memory or `from` */
	VECTOR_LOW,		/* the low one of that of `low`, the next of that of `high` */
};

/* The same on vector registers, of which there are at most 32. */
struct vectors {
	int8_t to;		/* that it sets; -1: none */
	int8_t from;		/* a general register, all of which it has; -1: none */
	bool computes;		/* with their words, or parts of them; */
	bool adds;		/* words of eight bytes */
	uint8_t loads;		/* bytes of memory, at most, that go into it; 0: none */
	uint8_t words;		/* enum vector_words */
	int8_t low, high;	/* vector registers; -1: memory, if it is named */
	uint32_t of;		/* bit n: vector register n, too */
};

enum goal {
	GOAL_NONE,		/* nothing, as far as we know */
	GOAL_TABLE,		/* is set to a table's address, ref, of which the jump
				 * takes an entry */
	GOAL_MEMORY,		/* the jump goes by other memory */
	GOAL_OTHER,		/* is set otherwise */
};

/* What does a jump by a register go by? */
enum jump_by {
	JUMP_BY_UNKNOWN,
	JUMP_BY_WORD,		/* a whole word, from memory */
	JUMP_BY_EARLIER,	/* what was there before what is looked at */
	JUMP_BY_TABLE,		/* a distance, added to an address that the code names */
	JUMP_BY_SUM,		/* two other things, added */
	JUMP_BY_NAME,		/* an address that the code names */
};

/* What does an instruction do with registers that a stub takes? */
enum spared {
	SPARED_FREE,		/* nothing that tells */
	SPARED_SET,		/* sets one */
	SPARED_KEPT,		/* stores one */
	SPARED_GONE_BY,		/* jumps by one */
};

/* What has an instruction to do with a word of the stack? */
enum stacked {
	STACKED_NOT,
	STACKED_PUSHED,		/* it is put there */
	STACKED_TAKEN,		/* the innermost one is put into a register */
	STACKED_LOADED,		/* one above is */
	STACKED_ELSEWHERE,	/* the stack is another one from here on */
};

/* Where a jump can lead of which some bytes are given: to every address
 * base + d with a signed 32-bit d for which (d & mask) == value. */
struct jump_set {
	raddr_t base;
	uint32_t mask, value;
};

/*
 * What one recording call in a stub says. `word` is the constant part of the
 * record, as payload/abi.h lays it out; `routine` is the link-space address of
 * the recording routine (the arena's copy of arch/<name>/hot.S); `gate` the run-time
 * address of a byte: while it is 0 the call is not made.
 */
struct record_call {
	uint64_t word;
	raddr_t routine;
	raddr_t gate;
	bool returns;		/* the stub returns behind it, and the routine for the stub */
	uint8_t below;		/* bytes below the stack pointer that have to stay as they are:
				 * those of the arch's zone, or 0 */
	/* Where at most eight bytes of stack are left: what a thread calls that has no
	 * spill frames yet, or where the arena begins that says it (0: there is more
	 * room), and where from its thread pointer it
	 * has the word that says where they are, and its g (0: none). */
	raddr_t first;
	int32_t spills, g;
};

struct arch {
	const char *name;
	uint16_t machine;	/* ELF e_machine */
	uint32_t audit;		/* AUDIT_ARCH_*, by which seccomp filters know it */
	uint8_t align;		/* instructions start at multiples of this */
	uint8_t jump_size;	/* bytes of a jump with full reach in a window */
	uint8_t short_size;	/* bytes of a short jump (TACTIC_SHORT); 0: none */
	int64_t short_reach;	/* it reaches pc+short_size +- this */
	int64_t reach;		/* a full jump reaches +- this many bytes */
	bool tells_cpu;		/* an instruction tells which processor it runs on; else the C
				 * library may: rseq_place() */
	uint8_t jump_fixed;	/* bytes at the start of a full jump that do not
				 * say where it leads */
	uint8_t pun_prefixes;	/* of a pun: most bytes that do nothing before its
				 * full jump */
	/* Registers, by the numbers that `effect` has. arm64 has no `effect` yet: its numbers are
	 * those of its instructions, some above ARCH_REGISTERS_MAX, and nothing asks for them. */
	int8_t stack, frame;	/* the stack pointer, and what a frame is reached by that has
				 * another one */
	int8_t returned, second;/* what a call returns in, and the second half of that */
	uint32_t kept;		/* bit n: a call keeps register n, so that a landing pad finds
				 * it as it was. The stack pointer is none of them */
	bool room_to_capture;	/* behind the question of a function of Go's for room on the stack
				 * C that reads values has enough */
	uint8_t zone;		/* bytes below the stack pointer that code relies on within a
				 * function; a multiple of 16 */
	bool calls_push;	/* their return address: so what is called begins with another
				 * stack pointer than its caller has there */
	uint8_t trap_size;	/* bytes of a breakpoint */
	uint8_t trap[4];
	raddr_t top, top_least;	/* a process that does not ask for more has no address from
				 * here on; nor, where the kernel has the fewest bits of
				 * address, from there on. Which it is, a process's stack tells:
				 * gaps_find() */
	bool block_at_tp;	/* a C library's control block of a thread begins where the
				 * thread pointer points, with its own address; else it ends
				 * there */
	/* Registers that recording routines can record as they are (EXT_REGISTERS), in this order:
	 * of arguments and of results, by their numbers in DWARF. */
	uint8_t narguments, nresults;
	uint8_t arguments[7], results[2];
	bool walks_moved;	/* where a runtime leaves little stack there is room for a walk
				 * up the stack (tools/payload-check.sh) */
	bool keeps_landing;	/* a landing pad is enforced: an entry's jump
				 * stands behind it, never on it */

	/*
	 * Decode the instruction at `p` (`n` bytes readable there) whose
	 * link-time address is `pc`. Uses capstone, so it is exact and slow;
	 * an instruction that capstone does not know gets INSN_UNKNOWN,
	 * INSN_PINNED and the size that measure() finds. 0, or -EILSEQ if not
	 * even the fallback can give a size, or the bytes end inside it.
	 * Thread-safe; keeps one capstone handle per thread.
	 */
	int (*decode)(const uint8_t *p, size_t n, raddr_t pc, struct insn *ret);
	/*
	 * The same from our own table: sizes, kinds and destinations of
	 * branches, and flags, but without capstone's word that the rest is
	 * known: not to be relocated. 15 to 20 times as fast; for sweeping
	 * the whole text of a module.
	 */
	int (*measure)(const uint8_t *p, size_t n, raddr_t pc, struct insn *ret);
	/*
	 * Write to `out` what does at link-time address `to` what the decoded
	 * instruction `in` (bytes `p`) does where it stands. Calls push the
	 * ORIGINAL return address and then jump. Returns the size, or
	 * -ENOTSUP for what cannot be moved, -ERANGE if a reference does not
	 * reach, -ENOSPC if `cap` is too small.
	 */
	int (*relocate)(const uint8_t *p, const struct insn *in, raddr_t to,
			uint8_t *out, size_t cap);
	/* A full jump at `from` to `to`. Its size, or -ERANGE. */
	int (*jump)(raddr_t from, raddr_t to, uint8_t *out);
	/* What leaves its return address to a routine that unwinders are led to (the
	 * arena's copy of arch/<name>/hot.S). Its size, or -ERANGE. NULL: none is. */
	int (*call)(raddr_t from, raddr_t to, uint8_t *out);
	/* A short jump (TACTIC_SHORT). Its size, or -ERANGE. */
	int (*jump_short)(raddr_t from, raddr_t to, uint8_t *out);
	/*
	 * A pun; NULL: none. A full jump at `from` behind `prefix` bytes that
	 * do nothing. pun_set says where it can lead if each byte i of it with
	 * bit i in `given` is to be p[i]; -ENOTSUP if no such jump has these
	 * bytes. pun writes the one that leads to `to`. Its size, or -ERANGE.
	 */
	int (*pun_set)(raddr_t from, size_t prefix, const uint8_t *p,
		       uint16_t given, struct jump_set *ret);
	int (*pun)(raddr_t from, size_t prefix, raddr_t to, uint8_t *out);
	/* A conditional branch of the same condition as `in` inverted, that
	 * skips `distance` bytes after itself; for conditional tail jumps.
	 * Its size, or -ENOTSUP. */
	int (*skip_unless)(const uint8_t *p, const struct insn *in,
			   size_t distance, uint8_t *out);
	/* The code of a stub that makes one recording call, at link-time
	 * address `at`. Changes no register and no flag that its surroundings
	 * may rely on, and touches nothing above the stack pointer. Its size,
	 * or -ERANGE. At most ARCH_RECORD_MAX bytes, or ARCH_TIGHT_MAX. */
	int (*record)(raddr_t at, const struct record_call *call, uint8_t *out);
	/* Does it return, and do nothing else? A routine then may. NULL: none does. */
	bool (*returns)(const uint8_t *p, const struct insn *in);
	/* What has this instruction to do with the register that an indirect jump goes by?
	 * NULL: not known. */
	enum goal (*goal)(const uint8_t *p, const struct insn *in,
			  const uint8_t *jump, const struct insn *jump_in);
	/* What does an instruction do to general registers? What is not known to keep one
	 * sets it. There are `n` bytes, with what is behind it. NULL: not known, and jumps by
	 * registers count as by whole words. */
	void (*effect)(const uint8_t *p, size_t n, const struct insn *in, struct effect *ret);
	/* What does the rest of its effect come from? */
	void (*effect_of)(const uint8_t *p, size_t n, const struct effect *, struct effect_of *ret);
	/* What may it, which falls through, have to do with the stack and with copies of registers?
	 * By a look at its bytes: bits of enum glance. Not NULL where `effect` is not. */
	unsigned int (*glance)(const uint8_t *p, const struct insn *in);
	/* Is all that `effect` says of it that it writes to memory so, or not even that? By a look
	 * at its bytes: of many it is, of which false is said. Not NULL where `effect` is not. */
	bool (*only_stores)(const uint8_t *p, const struct insn *in, struct only_stores *ret);
	/* Of what is not of the stack, and may load from there: does it, and where? Not NULL where
	 * `effect` is not. */
	bool (*loads)(const uint8_t *p, const struct insn *in, struct only_stores *ret);
	/* Which two registers are equal (bit n: register n) where this branch is not taken, which
	 * follows a comparison at `p`? 0: none. Not NULL where `effect` is not. */
	uint16_t (*equals)(const uint8_t *p, const struct insn *compare, const struct insn *branch);
	/* What does it do to vector registers? NULL: not known. */
	void (*vectors)(const uint8_t *p, size_t n, const struct insn *in, struct vectors *ret);
	/* The register by which it, an indirect jump or call, goes; -1: by memory. For a
	 * thunk see thunk_register. */
	int (*goes_by)(const uint8_t *p, const struct insn *in);
	/* Where `effect` is NULL: what does this jump by a register go by, to judge by the `before`
	 * bytes that lie before it, which control comes through one after the other? *base: of
	 * JUMP_BY_TABLE and JUMP_BY_NAME, the address. */
	enum jump_by (*jump_by)(const uint8_t *p, size_t before, const struct insn *in,
				raddr_t *base);
	/* The bytes of the stub of a linkage table that begins at `p` (a jump through one word that
	 * a loader fills, with a landing pad before it where those are in use), and the address
	 * of that word. 0: none does. */
	size_t (*linkage)(const uint8_t *p, size_t n, raddr_t pc, raddr_t *slot);
	/* Does it, a jump, go by what lies below the stack pointer, where records are made?
	 * NULL: none does. */
	bool (*goes_below)(const uint8_t *p, const struct insn *in);
	/* The register by which what stands at `p` jumps on, in a way that no processor
	 * guesses (a retpoline), if it does nothing else; -1: it does. NULL: there are
	 * none. */
	int (*thunk)(const uint8_t *p, size_t n);
	/* May there be one, anywhere in these bytes? */
	bool (*has_thunk)(const uint8_t *p, size_t n);
	/* NULL: not known. */
	enum stacked (*stacked)(const uint8_t *p, const struct insn *in);
	/* The signal that an INSN_STOP raises (the same number on every Linux), if
	 * it may be moved; 0: its owner knows it by its address, or we do not
	 * know. */
	int (*raises)(const uint8_t *p, const struct insn *in);
	/* The signals (bit n - 1 for signal n) that an instruction may raise by what
	 * it is given: an address that was computed, and not the stack's, a
	 * variable's or a thread's own; a divisor. */
	uint64_t (*faults)(const uint8_t *p, const struct insn *in);
	/* By how many bytes is the stack pointer lower behind it, where it goes on
	 * behind itself and relies on nothing that lies below? That may be so later of
	 * what takes an address of the stack, if there is a `zone` below that is kept.
	 * -1: not known, as with all instructions where this is NULL. */
	int (*lowers_stack)(const uint8_t *p, const struct insn *in, bool zone);
	/* The register by which it reaches memory, if that is all that can go wrong with
	 * it, and it reads or writes what is there and no more; -1: it does otherwise. NULL:
	 * not known. */
	int (*reaches)(const uint8_t *p, const struct insn *in);
	/* Does it surely leave that register as it is? */
	bool (*keeps)(const uint8_t *p, const struct insn *in, int reg);
	/* Does it say that the system call behind it is the one by which a thread gets
	 * its thread pointer? NULL: not known. */
	bool (*is_thread_call)(const uint8_t *p, const struct insn *in);
	/* May it be the first to reach some word of the stack, so that it is what faults
	 * where the stack ends? Calls, pushes, and what stores by the stack pointer. NULL: not
	 * known. */
	bool (*touches_stack)(const uint8_t *p, const struct insn *in);
	/* Does it put what a callee keeps into the frame, as at a function's entry, and no more?
	 * NULL: not known. */
	bool (*saves)(const uint8_t *p, const struct insn *in);
	/* How many bytes at `p`, the start of a function of Go's, ask whether its
	 * goroutine's stack has room: whole instructions, the last of them the
	 * branch to where it is made to grow. What is recorded behind them has
	 * the room that is kept for functions which do not ask (800 bytes and
	 * more), and g where the recording routines expect it; *loads says that it
	 * has to be put there first, and need not be there any more where the
	 * function returns. 0: it does not ask. NULL: not known. */
	int (*stack_check)(const uint8_t *p, size_t n, bool *loads);
	/* Does what stands at `p`, where a function of Go's begins, read a word of g?
	 * Those begin so that the compiler has made to call others, and no other is
	 * made of these instructions. g is always there. NULL: not known. */
	bool (*reads_g)(const uint8_t *p, size_t n);
	/* Where from the thread pointer does a program of Go's keep a thread's g? As
	 * its code reads it where it comes to use the register. 0: it does not say.
	 * NULL: not known, and nothing is recorded where hardly any stack is left. */
	int32_t (*g_place)(const uint8_t *p, size_t n);
	/* A stub takes registers where hardly any stack is left, which are free where Go's
	 * functions begin and end. What does an instruction do with them? NULL: none is taken. */
	enum spared (*spared)(const uint8_t *p, const struct insn *in);
	/* Elsewhere: may the code at `p` need what is in one of them? */
	bool (*needs_spared)(const uint8_t *p, size_t n);
	/* Does the instruction at `p` surely leave alone the register that Go keeps g in, by
	 * which threads are known? NULL: they are known otherwise. */
	bool (*keeps_g)(const uint8_t *p);
	/* True if all `n` bytes are what a linker or compiler pads with and
	 * nothing executes (nops in any form, int3, zero bytes). */
	bool (*is_padding)(const uint8_t *p, size_t n);
	/* May this byte stand before an instruction, as a part of it? Not NULL where instructions
	 * may begin at any byte. */
	bool (*is_prefix)(uint8_t byte);
	/* Of `n` bytes, from an instruction on, which are not those of the file: may a debugger
	 * or another tracer have put them there? */
	bool (*is_foreign)(const uint8_t *p, size_t n);
};

extern const struct arch arch_x86_64;
extern const struct arch arch_arm64;

/* A jump takes the place of one instruction: control that arrives anywhere arrives at its start,
 * or at an instruction that is as it was. */
static inline bool arch_has_short_windows(const struct arch *a)
{
	return a->jump_size <= a->align;
}

static inline bool arch_is_stack(const struct arch *a, int reg)
{
	return reg >= 0 && (reg == a->stack || reg == a->frame);
}

/* The instruction set of an ELF file by e_machine, or NULL. */
const struct arch *arch_by_machine(uint16_t machine);
/* The one that this program runs on. */
const struct arch *arch_host(void);

#endif

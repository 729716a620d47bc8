/* SPDX-License-Identifier: MIT */
/*
 * payload: what runs inside the target, and how do its parts call each other?
 *
 * session.c	which session is recorded into, and is it open?
 * hello.c	the injector's call: which session, and where things are
 * spills.c	where is room for a call that has none on its stack?
 * claim.c	which struct thread and ring does the calling thread have?
 * wiped.c	what stands for a thread's own, in a child that is forked in the middle
 * ring.c	words, sub-buffers, and the count of what is lost
 * limiter.c	which functions cost their threads more than they may lose?
 * stacks.c	which stack is this, and which calls are open on it? (places.c, fibers.c:
 *		see stacks.h)
 * orphans.c	which calls of fibers are open that no thread has a frame of?
 * slow.c	an entry, an exit or a mark that the fast path left to C
 * timing.c	how long do calls take, where that is all?
 * sieve.c	which of the open calls are recorded, where not all are?
 * watch.c	did a call take longer than it may?
 * values.c	what is read of a call, by its function's read plan?
 * callers.c	which callers has it, up the stack?
 * guard.c	may the process be about to forbid what reading memory takes?
 * trap.c	a thread ran into a breakpoint: where does it go on?
 * unwind.c	an unwinder comes to code of ours: how does it go on?
 *
 * The rules: no libc, no lock, no allocation, no vector register (but what vectors.S stores, and
 * puts back); never exits, raises, prints, opens or blocks (but values.c, where it may, for memory
 * that the kernel copies); anything may be interrupted anywhere
 * by a signal handler that calls probed functions, and may be left for good by
 * a siglongjmp from it.
 *
 * Slow paths do not nest. The outer one keeps `busy` (its sp) and `end` = 0;
 * a call that finds both is counted as lost and changes nothing else. So the
 * outer one owns the struct thread, and needs no atomic operation but order.
 */
#ifndef PAYLOAD_PAYLOAD_H
#define PAYLOAD_PAYLOAD_H

#include <stdbool.h>
#include "arch/cpu.h"
#include "payload/abi.h"
#include "values/condition.h"

/* All of it is reached by its distance: a table of addresses would have to be relocated. */
#pragma GCC visibility push(hidden)

/* Are calls added up, and not recorded? */
static inline bool is_counted(const struct session *s)
{
	return s->counting == COUNT_CALLS || s->counting == COUNT_TIMES;
}

static inline bool is_sifted(const struct session *s)
{
	return s->counting == COUNT_SIFTED;
}

/* What the stub's word says is to be counted. */
enum what { WHAT_ENTRY, WHAT_EXIT };

/* Stores that a signal handler of this thread, or the reader, must see in the
 * order in which they are written here. */
#define publish(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define observe(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)

/* session.c */
extern struct session *payload_session;	/* NULL before the first hello */
extern uint64_t payload_visit;		/* counts hellos */
/* Is anything to be recorded by a thread that is in the middle of that? */
bool payload_is_open(struct session *);

/* hello.c */
__attribute__((visibility("default"))) void payload_hello(struct session *);

/* slow.S */
void slow_entry(void);
void slow_exit(void);
void slow_mark(void);
void slow_goroutine(void);
void slow_count(void);
void slow_watch_entry(void);
void slow_watch_exit(void);
void slow_values_entry(void);
void slow_values_exit(void);
void slow_guard(void);
void slow_tight(void);
void slow_first(void);
void slow_find(void);
extern const char slow_first_end[], slow_stacks[];

/* claim.c */

/* Offset of the per-thread word from the thread pointer, and of that which says where
 * the thread's spill frames are. */
uint64_t claim_tls_offset(void);
uint64_t claim_spills_offset(void);
/* From hello: mark the threads' memory, so that a forked child knows itself. */
void claim_mark(const struct session *);
/* The calling thread's id; 0 if it is not where it should be. */
int32_t claim_tid(const struct session *);
/* The calling thread's struct thread, claimed if it has none of this visit;
 * NULL if it is not to record, or got no ring (then `what` was counted). */
struct thread *claim_thread(struct session *, enum what);
/* The same, but NULL if it has none: claims nothing, counts nothing. */
struct thread *claim_kept(void);
/* No ring is there for a call. */
void claim_count(struct session *, enum what);
/* Send every thread that has a ring of this session to the slow path. Only
 * while no probe is in. */
void claim_expire(struct session *);

/* wiped.c */

/*
 * A child that a signal handler forks in the middle of a slow path, and that returns there, finds
 * all zeros in its struct thread from then on, and goes on to the end. So each address is loaded
 * from there once, before it is looked at; where it is 0, what is here stands for what it leads
 * to. A limit is loaded behind the address that it is of: if it is not 0, nor was that. (Offsets
 * in struct thread do no harm.)
 */
extern struct ring payload_no_ring;
extern struct side payload_no_sides[2];

static inline struct ring *thread_ring(const struct thread *t)
{
	return (struct ring *)observe(&t->ring) ?: &payload_no_ring;
}

/* Of the frame at an offset. There is one before it. */
static inline struct side *thread_side(const struct thread *t, uint64_t offset)
{
	uint64_t sides = observe(&t->sides);

	return sides ? (struct side *)(sides + SIDE_WORDS * offset) : &payload_no_sides[1];
}

/* ring.c */

/* Make room for `n` words, to be written at the present time, or at `now`, and tell what is to be
 * told first: that words were lost, that the stack is another one. False if the ring is full. */
bool ring_room(struct session *, struct thread *, unsigned int n);
bool ring_room_at(struct session *, struct thread *, unsigned int n, uint64_t now);
/* Write a word, which has no time yet, or an extended one with its body, into room that was made.
 * Their time is that: to read the clock takes longer than all else here. */
void ring_put(struct thread *, uint64_t word);
void ring_put_ext(struct thread *, unsigned int subkind, uint64_t body);
/* The same in two steps: the place of so many words; and the first of them, behind the others. */
uint64_t *ring_take(struct thread *, unsigned int n);
void ring_give(const struct thread *, uint64_t *place, uint64_t word);
/* Does such a word tell of an entry or an exit of the function that is its body? */
static inline bool ext_is_event(unsigned int subkind)
{
	return subkind == EXT_MARK || subkind == EXT_BEFORE || subkind == EXT_AFTER ||
		subkind == EXT_BEGUN;
}

/* Where calls are sifted: have the ring's sub-buffer be the current one, for a slow path, and put
 * it aside again. */
void ring_unpark(struct thread *);
void ring_park(struct thread *);

/* Close the current sub-buffer, if there is one. */
void ring_close(const struct session *, struct thread *);
void ring_lose(struct thread *, enum what);

/* The same of a record that has a body word. */
void ring_put_deep(struct thread *, uint64_t word, uint64_t body);

/* limiter.c */

/* A sub-buffer of the thread has ended, where session.limit is to hold. */
void limiter_look(const struct session *, struct thread *, const struct subbuf *,
		  uint64_t now);
/* The same where calls are sifted, at an entry or exit that C has: a thread whose count is full is
 * judged, and if it spends too much its next calls are looked at, as many as tell which function
 * has to go. Is it being looked at? */
void limiter_sift(const struct session *, struct thread *, uint64_t func);
bool limiter_samples(const struct thread *);

/* stacks.c */

/* What a g of Go's begins with, in all versions. */
struct goroutine {
	uint64_t lo, hi;	/* its stack */
};

/* Forget all stacks; their numbers are not used again. */
void stacks_reset(struct thread *);
/* Make the stack of `sp` the current one; of a fiber that another thread has
 * run, with the calls that are open on it. True if this is the end of a call that was
 * said to be unwound. */
bool stacks_follow(struct session *, struct thread *, uint64_t sp, enum what);
/* Make the stack of this goroutine the current one. */
void stacks_goroutine(struct thread *, const struct goroutine *);
/* Do `a` and `b` lie on one stack, as far as known? */
bool stacks_same(struct session *, struct thread *, uint64_t a, uint64_t b);
/* At the end of a slow path: was the current stack taken by another thread? */
bool stacks_is_taken(const struct thread *);
/* The piece whose frame at offset `top` was written while another stack may
 * have become the current one: make it the current one again. */
void stacks_settle(struct thread *, uint64_t top);

/* So many calls of a stack are recorded, of those that are open at a time; 0: all. */
void stacks_deepen(struct thread *, uint32_t deepest);
/* Are as many calls open on the current stack as are to be recorded? */
bool frames_deep(const struct thread *);
/* Is that so, and is the call that ends at `sp` none of them? */
bool frames_too_deep(const struct thread *, uint64_t sp);
/* Open calls of the current stack whose entries were recorded. */
uint32_t frames_depth(const struct thread *);
/* Pop the frames that are left when `what` happens at `sp`. True if there was one whose
 * entry was recorded. */
bool frames_pop_left(struct thread *, uint64_t sp, enum what);
/* Pop the innermost one, if it is that of the call that ends at `sp`. */
void frames_pop(struct thread *, uint64_t sp);

static inline uint64_t *frames_at(const struct thread *t, uint64_t offset)
{
	return (uint64_t *)((char *)t + offset);
}

/* The sp of a frame of any kind. */
static inline uint64_t frame_sp(uint64_t frame)
{
	return frame & 1 ? (frame | 7) + 1 : frame;
}

/* What is at or below has been left where a mark is made at sp. A place may have the stack pointer
 * of its function's entry, whose call is open; or that of a call from it, which pushes nothing. */
static inline uint64_t frames_mark_sp(uint64_t word, uint64_t sp)
{
	word >>= REC_TIME_SHIFT;
	return word & REC_FRAMED ? sp + CPU_ZONE : word & REC_PLACE ? sp + CPU_ZONE - 8 : sp;
}

/* The offset of the sentinel before the current stack's frames; and of the innermost frame that is
 * not left when `what` happens at `sp`, or of the sentinel. */
uint64_t frames_start(const struct thread *);
uint64_t frames_rest(const struct thread *, uint64_t sp, enum what);

/* sieve.c: but for one of a session that sifts calls. */

struct held_call;

/* In any session: take in what the injector may have changed of what is wanted (verb_filter.c). It
 * changes the session first, and then the thread's `least`, which sends it here: what we overwrite
 * of that was for a change that we see behind it. */
void sieve_follow(const struct session *, struct thread *);
/* What its threads' `least` is to be. */
uint64_t sieve_least(const struct session *);
/* In a claim. */
void sieve_claim(const struct session *, struct thread *);
/* `what` happens at `sp`: if a call passes that is left with it, and is pending, all are recorded
 * that do; those that have a condition on the return as far as that is asked, too, which takes
 * stack. */
void sieve_left(struct session *, struct thread *, uint64_t sp, enum what);
void sieve_left_asked(struct session *, struct thread *, uint64_t sp, enum what);
/* The pending calls of the current stack that pass by now are recorded, of those whose frames are
 * below an offset, and within which none is recorded yet. */
void sieve_record(struct session *, struct thread *, uint64_t end, uint64_t now);
/* All is to be forgotten that is known of stacks: what is pending on the current one will not be
 * recorded, whether it passes or not. */
void sieve_forget(struct thread *);
/* A call has begun. `kind`: what its frame is below its sp: FRAME_PENDING, FRAME_LOST,
 * FRAME_FAILED, or 0 if it is recorded. Without room it gets no frame. */
void sieve_push(const struct session *, struct thread *, uint64_t func, uint64_t sp, uint64_t begin,
		uint64_t kind);
/* Does the call under way pass, by what was read of it? At its entry, before it has a frame; or at
 * its exit. `link`: as cpu_link(). */
enum verdict sieve_entry(const struct session *, const struct thread *, uint64_t sp,
			 uint64_t begin, uint64_t link);
enum verdict sieve_exit(const struct session *, const struct thread *, uint64_t sp, uint64_t now,
			uint64_t link);
/* What the call that ends, and has the innermost frame, had read at its entry. */
struct held_call *sieve_held(const struct session *, const struct thread *, uint64_t sp,
			uint64_t func);
/* The fast path has pushed the pending frame at this offset, and was interrupted. */
void sieve_settle(struct thread *, uint64_t offset, uint64_t func, uint64_t sp);
/* Has the call that ends at `sp`, and has the innermost frame, taken as long as it has to? So has
 * every one that is recorded. */
bool sieve_takes_long(const struct session *, const struct thread *, uint64_t func, uint64_t sp,
		      uint64_t now);
/* It passes: its begin is recorded, with `callers` words of callers, and before that those of calls
 * around it that do. */
void sieve_pass(struct session *, struct thread *, uint64_t sp, uint64_t now,
		unsigned int callers);

/* timing.c. Where calls are not timed, and of a thread that times none, all but the first
 * do nothing; but sides there are where calls are sifted, too. */

/* In a claim, of a session that times calls. */
void timing_claim(const struct session *, struct thread *);
/* A call of a function has begun; if it has a frame, that is the innermost. False: there
 * is no room for the function, and the call is not counted. */
bool timing_begin(struct thread *, uint64_t func, bool framed);
/* The call that has the frame at an offset, the innermost, has ended, in whatever way. */
void timing_end(struct thread *, uint64_t offset, bool unwound);
/* What is known of the frame at an offset; NULL: calls are not timed. */
struct side *timing_side(const struct thread *, uint64_t offset);
/* It goes with the frame. Either may be NULL. */
void timing_copy(struct side *to, const struct side *from);
/* The same to the frame at an offset of a thread that has taken the call over. */
void timing_take(struct thread *, uint64_t offset, const struct side *from);

/* orphans.c */

struct orphan {
	/* Of one that was said to be unwound: because of what happened where; and the
	 * outermost of those that were, then. */
	uint64_t by, outer;
	/* Of one that is open, and of one that was pending then; else 0: */
	uint64_t frame;
	struct side side;	/* if calls are timed, or sifted */
	/* Of one that is open: */
	uint64_t inner;		/* where the next call within it is; 0: none is known */
	uint32_t within;	/* so many calls whose entries were recorded */
};

#define ORPHANS_NOWHERE 8ull	/* for `by`: it may have been anywhere */

/* Nothing is open any more as far as is known. */
void orphans_clear(void);
void orphans_tell(uint64_t frame, uint64_t by, uint64_t outer, const struct side *);
/* A call that is open on the stack of that number, with what struct orphan says of it. */
void orphans_put(uint64_t frame, uint64_t inner, uint32_t number, uint32_t within,
	       const struct side *);
/* On which stack is a call open that ends at `sp`? 0: nothing is known of one. */
uint32_t orphans_number(uint64_t sp);
/* Take the call that ends at `sp`, which is open on that stack or, if `number` is 0, was
 * said to be unwound; false if it is not there. */
bool orphans_take(uint64_t sp, uint32_t number, struct orphan *ret);
void orphans_drop(uint64_t sp, uint32_t number);
/* Bounds around `sp` within which no wall is known. */
void orphans_narrow(uint64_t sp, uint64_t *lo, uint64_t *hi);
/* Above `below`, and not above `above`, one stack ends and another begins. Where? Not
 * below `outer`, it seems. */
uint64_t orphans_part(uint64_t below, uint64_t above, uint64_t outer);

/* trap.c */
extern struct traps payload_traps;
/* The handler of SIGTRAP. */
void payload_trap(int signal, void *info, void *frame);

/* values.c: of the thread that owns the slow path. `sp` is the call's, at its entry and exit. */

/* In hello: all filters will be asked anew. */
void values_hello(void);
/* In a claim. */
void values_claim(const struct session *, const struct thread *);
/* Read what the plan of the function says, by the registers that slow.S has pushed at `held`. How
 * many words of the ring values_put() needs for it; 0: nothing is to be put. Up to `end` the stack
 * is there for certain, 0: that is not known. */
unsigned int values_take(const struct session *, const struct thread *, uint64_t func,
			 enum what what, uint64_t sp, const uint64_t *held, uint64_t end);
/* What that has read, into room that was made for so many words. */
void values_put_taken(const struct session *, struct thread *, uint64_t func, unsigned int words);

/* The same of what a call has read at its entry, of which there are so many bytes. */
void values_put_held(const struct session *, struct thread *, struct held_call *, uint32_t n);

/* Keep what values_take() has read at the entry of the call at `sp`, on the current stack, above
 * what calls around it have kept, of whose innermost `below` tells. What tells of it; as `below` if
 * it was not kept. */
uint64_t values_hold(const struct session *, const struct thread *, uint64_t below, uint64_t sp,
		     uint64_t func);
/* NULL: nothing was kept, or it is there no more. */
struct held_call *values_held(const struct session *, const struct thread *, uint64_t where,
			      uint64_t sp, uint64_t func);
/* Words of the ring for so many bytes. */
unsigned int values_words(uint32_t bytes);
/* Do calls of the function that begin now have to pass a condition? */
bool values_conditioned(const struct session *, uint64_t func);
/* Is it still for a condition to say whether an open call of it passes? By what is held of that.
 * *needs: what that condition asks for besides (enum condition_need); 0 if nothing is held. */
bool values_decides(const struct session *, uint64_t func, const struct held_call *,
		    unsigned int *needs);
/* Room for the facts of one; and will it pass for certain, however it ends? */
struct condition_facts *values_facts(const struct session *, const struct thread *);
bool values_passes(const struct session *, const struct thread *, const struct held_call *,
		   const struct condition_facts *);
/* What the condition of the call under way asks for besides: enum condition_need. */
unsigned int values_needs(const struct session *, const struct thread *);
/* Does it pass, by what was read of it so far? It does where there is no condition. */
enum verdict values_verdict(const struct session *, const struct thread *, bool at_exit,
			    const struct condition_facts *);
/* values_take() at the exit of a call that was pending, with what it has read at its entry. `held`
 * NULL: no registers are to be read. */
unsigned int values_take_back(const struct session *, const struct thread *, uint64_t func,
			      uint64_t sp, const uint64_t *held, const struct held_call *entry);
/* No memory is read by a call of the kernel any more in this process, before another hello; what is
 * just under way is waited for, a tenth of a second at most. */
void values_stop_asking(struct session *);
/* A call begins at `sp` of which nothing is read: what was kept for an earlier one is not its. */
void values_forget(const struct session *, const struct thread *, uint64_t sp);
/* Is memory mapped for certain, where a call begins or ends at `sp`? */
bool values_is_there(const struct session *, uint64_t sp, uint64_t at, size_t n);
/* Where the call at `sp` returns to; 0: that could not be read. `link`: cpu_link(). */
uint64_t values_returns_to(const struct session *, const struct thread *, uint64_t sp,
			   uint64_t link);
/* How many of the bytes could be read by the kernel, if it may be asked; errno is as it was. */
size_t values_ask(const struct session *, const struct thread *, uint64_t at, void *buf, size_t n);

/* callers.c: likewise. */

/* Walk the stack of a call at whose entry, exit or place the stack pointer was `sp`: at its exit
 * the callers are those of its entry. How many words of the ring callers_put() needs; 0: its
 * callers are not asked for. */
unsigned int callers_take(const struct session *, const struct thread *, uint64_t func,
			  uint64_t sp, const uint64_t *held);
/* The same on the stack of a goroutine, which is there up to its end. */
unsigned int callers_take_moved(const struct session *, const struct thread *, uint64_t func,
				uint64_t sp, const uint64_t *held, uint64_t end);
/* Is that the function of a goroutine, whose callers are asked for? */
bool callers_moved(uint64_t func);
void callers_put(const struct session *, struct thread *, uint64_t func, unsigned int words);

/* vectors.S: the vector registers that arguments and results are in; those of the x87, by way of
 * `room` (512 bytes, aligned to 16). None is changed. */
void values_vectors(uint8_t vector[][16]);
void values_vectors_all(uint8_t vector[][16]);
void values_x87(uint8_t x87[][10], void *room);

/* slow.c, called by slow.S: `word` of the stub, `sp` of the application. */
void payload_slow_entry(uint64_t word, uint64_t sp);
void payload_slow_exit(uint64_t word, uint64_t sp);
void payload_slow_mark(uint64_t word, uint64_t sp);
/* The same of all three where a goroutine runs; `g` is what Go keeps of it. */
void payload_slow_goroutine(uint64_t word, uint64_t sp, const struct goroutine *g);
void payload_slow_count(uint64_t word, uint64_t sp);
/* And where that is not certain: on a signal's stack, or in a thread of C's. */
void payload_slow_tight(uint64_t word, uint64_t sp, const struct goroutine *g);

/* For a free ring, or spill area. It looks at every one: so after one that found none the next
 * waits for a tenth of a second or so, or until the injector has given one back. */

struct search {
	uint64_t next;		/* not before that time */
	uint32_t returns;	/* of the session, when the last one failed */
};

/* `returns` as it is now. False: not yet. */
static inline bool search_begin(const struct search *s, uint32_t returns)
{
	return cpu_clock() >= __atomic_load_n(&s->next, __ATOMIC_RELAXED) ||
		returns != __atomic_load_n(&s->returns, __ATOMIC_RELAXED);
}

/* `returns` as it was when the search began. */
static inline void search_failed(struct search *s, uint32_t returns)
{
	__atomic_store_n(&s->returns, returns, __ATOMIC_RELAXED);
	__atomic_store_n(&s->next, cpu_clock() + cpu_tenth(), __ATOMIC_RELAXED);
}

/* spills.c, called by slow.S: has the thread spill frames now? If not, its entry, or exit, was
 * counted. */
bool payload_first(uint64_t exit);

/* unwind.c, called by slow_find: what does _Unwind_Find_FDE say of `pc`? It is
 * `original`, and the rest is as libgcc has it. */
struct unwind_bases {
	uint64_t tbase, dbase, func;
};
typedef const void *unwind_find(uint64_t pc, struct unwind_bases *ret);
const void *payload_find(uint64_t pc, struct unwind_bases *ret, unwind_find *original);

/* Where in the program does the stub stand that a recording call goes back to? 0: it is none. */
uint64_t unwind_place(const struct session *, uint64_t back);

/* slow.c, called likewise where values are captured: `held` are the registers that slow.S has
 * pushed. The first also for marks. */
void payload_values_entry(uint64_t word, uint64_t sp, const uint64_t *held);
void payload_values_exit(uint64_t word, uint64_t sp, const uint64_t *held);

/* guard.c, called likewise at the entry of what may put the process under a seccomp filter. */
void payload_guard(uint64_t word, uint64_t sp, const uint64_t *held);

/* watch.c, called likewise: entry and exit of a watched function. */
void payload_watch_entry(uint64_t word, uint64_t sp);
void payload_watch_exit(uint64_t word, uint64_t sp);

/* A call that ends, and is watched; `begin` 0: it is not. (Two words, which take no stack.) */
struct watching {
	uint64_t begin, end;
};

/* watched.c: behind the record of an entry, if that is of a watched function, or certainly is; and
 * around the record of an exit. */
void watch_note(struct thread *, uint64_t sp);
void watch_entered(uint64_t func, uint64_t sp);
struct watching watch_leaves(uint64_t func, uint64_t sp);
void watch_left(struct watching, uint64_t func);

#pragma GCC visibility pop

#endif

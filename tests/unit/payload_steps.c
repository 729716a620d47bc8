/* SPDX-License-Identifier: MIT */
/*
 * Does the record stay exact wherever a signal comes? Not by chance, as in
 * payload_signals, but behind each instruction of a recording in turn: the trap
 * flag stops the call there, and the handler calls probed functions itself, or
 * leaves the call for good.
 */
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>
#include "tests/unit/payload_world.h"

/* What is stepped through: a call that is recorded, or that has registers recorded as well. */
#ifdef STEPS_KEPT
#define LEAF(w, func) kept(w, func, NULL, STEPS_KEPT, 2)
enum { HOLES = STEPS_KEPT + 3 };
#else
#define LEAF(w, func) probed(w, func, NULL)
enum { HOLES = 2 };
#endif

enum { RINGS = 8, AFTER = 3 };

static struct world w;
static struct drain drains[RINGS];
static probed_fn *leaf, *nested, *leaver;
static sigjmp_buf out, middle;

/* Behind instruction `stop_at` of a call the handler does its work. */
static volatile uint64_t steps, stop_at;
static volatile bool leave, hit;

struct counts {
	uint64_t entries, exits;	/* recorded, or counted as lost */
};

static struct counts recorded;
static uint64_t told;		/* how often something was said to be lost */

static void note(void *ctx, const struct rec *r)
{
	struct counts *c = ctx;

	told += r->kind == REC_EXT && r->sub == EXT_LOST;
	c->entries += r->kind == REC_ENTRY;
	c->exits += r->kind == REC_EXIT;
}

/* All that was made so far, as the reader of all rings has it. */
static struct counts count(void)
{
	struct counts c;

	for (uint32_t i = 0; i < RINGS; i++) {
		drains[i].each = note;
		drains[i].ctx = &recorded;
		drains[i].jumps = leave;
		world_drain(&w, world_ring(&w, i), &drains[i]);
		MUST_EQ(drains[i].inversions, 0);
	}
	c = recorded;
	for (uint32_t i = 0; i < RINGS; i++) {
		c.entries += world_ring(&w, i)->lost_entries;
		c.exits += world_ring(&w, i)->lost_exits;
	}
	return c;
}

/* A ring that is claimed counts from 0 again. */
static void keep_lost(void)
{
	recorded = count();
	for (uint32_t i = 0; i < RINGS; i++)
		world_ring(&w, i)->lost_entries = world_ring(&w, i)->lost_exits = 0;
}

static uint64_t holes(void)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < RINGS; i++)
		n += drains[i].holes;
	return n;
}

static void trapped(int sig, siginfo_t *info, void *context)
{
	if (++steps != stop_at)
		return;
	stop_stepping(context);
	hit = true;
	if (leave)
		siglongjmp(out, 1);
	nested(NULL);
}

static void call_until(probed_fn *f)
{
	steps = 0;
	hit = false;
	call_stepping(f);
}

static void call_leaf(void *arg)
{
	leaf(arg);
}

static void jump_out(void *arg)
{
	siglongjmp(middle, 1);
}

/* How to come to what is to be interrupted. */

static void prepare_nothing(void)
{
}

static struct thread *self(void)
{
	return world_thread(&w, world_ring_of(&w, 0));
}

/* The next call closes the sub-buffer, in which one is unread, and begins one. */
static void prepare_over(void)
{
	leaf(NULL);
	self()->limit = 0;
}

static void prepare_full(void)
{
	for (uint32_t i = 0; i < w.s->nsub; i++)
		prepare_over();
}

/* It was full when that was last looked at. */
static void prepare_emptied(void)
{
	prepare_full();
	leaf(NULL);
	count();
}

static void prepare_left(void)
{
	if (!sigsetjmp(middle, 0))
		leaver(NULL);
}

static void prepare_visit(void)
{
	keep_lost();
	w.s->generation++;
	world_hello()(w.s);
}

/* All that is in the rings was read, and they are free, as their reader leaves
 * those of threads that have ended. */
static void free_rings(void)
{
	count();
	for (uint32_t i = 0; i < RINGS; i++) {
		struct ring *r = world_ring(&w, i);

		if (r->tail < r->head)
			world_give_back(r, world_find(&w, r, r->tail));
		drains[i].done = 0;
		drains[i].begun = false;
		r->owner = RING_FREE;
	}
}

static void prepare_fresh(void)
{
	prepare_visit();
	free_rings();
}

static const struct scene {
	const char *name;
	void (*prepare)(void);
	struct counts made;	/* by `prepare` */
	bool claims;		/* a ring: its own, or another one */
	bool loses;		/* calls, without a handler */
	unsigned int stride;	/* from one instruction to the next ... */
	unsigned int fine;	/* ... but each of the first ones */
} scenes[] = {
	{ "flat", prepare_nothing, { 0, 0 }, false, false, 1, 0 },
	{ "over", prepare_over, { 1, 1 }, false, false, 9, 360 },
	{ "full", prepare_full, { 4, 4 }, false, true, 1, 0 },
	{ "emptied", prepare_emptied, { 5, 5 }, false, true, 30, 0 },
	{ "left", prepare_left, { 1, 0 }, false, false, 15, 0 },
	{ "visit", prepare_visit, { 0, 0 }, true, false, 25, 200 },
	{ "fresh", prepare_fresh, { 0, 0 }, true, false, 40, 0 },
};

/* What was lost, and what a hole may hide, is told when the next sub-buffer is begun. */
static void tell(void)
{
	self()->limit = 0;
	leaf(NULL);
}

/* The handler's calls count like all others, wherever it came; and are lost together. */
static void interrupt(const struct scene *scene, uint64_t n)
{
	struct counts before, after;
	uint64_t made = 1 + AFTER + 1, holes_before, told_before;

	tell();
	before = count();
	holes_before = holes();
	told_before = told;
	scene->prepare();
	stop_at = n;
	call_until(leaf);
	for (int i = 0; i < AFTER; i++)
		leaf(NULL);
	tell();
	after = count();
	made += hit ? 2 : 0;
	MUST_EQ(after.entries - before.entries, scene->made.entries + made);
	MUST_EQ(after.exits - before.exits, scene->made.exits + made);
	MUST_EQ(holes(), holes_before);
	MUST(told - told_before <= (scene->loses ? 2 : 1));
}

/* Of the call that was left, and of no other, a record may be missing. */
static void jump(const struct scene *scene, uint64_t n)
{
	struct counts before = count(), after;
	uint64_t least = scene->made.entries + 1, holes_before = holes();

	scene->prepare();
	stop_at = n;
	if (!sigsetjmp(out, 1))
		call_until(leaf);
	/* A reader comes at once, or later. */
	if (n % 2)
		count();
	tell();
	after = count();
	MUST(after.entries - before.entries >= least);
	MUST(after.entries - before.entries <= least + 1);
	MUST(holes() - holes_before <= HOLES);
	for (int i = 0; i < AFTER; i++)
		leaf(NULL);
	before = after;
	after = count();
	MUST_EQ(after.entries - before.entries, AFTER);
	MUST_EQ(after.exits - before.exits, AFTER);
}

/* A ring that is not free says whose it is, wherever its claim was left: else it could never be
 * freed. */
static void check_owners(void)
{
	for (uint32_t i = 0; i < RINGS; i++)
		if (world_ring(&w, i)->state != RING_FREE)
			MUST_EQ(world_ring(&w, i)->tid, syscall(SYS_gettid));
}

/* The call that was left may have been recorded; those that follow are. */
static void jump_claim(const struct scene *scene, uint64_t n)
{
	struct counts before, after;

	scene->prepare();
	stop_at = n;
	if (!sigsetjmp(out, 1))
		call_until(leaf);
	check_owners();
	leaf(NULL);
	self()->limit = 0;
	leaf(NULL);
	before = count();
	for (int i = 0; i < AFTER; i++)
		leaf(NULL);
	after = count();
	MUST_EQ(after.entries - before.entries, AFTER);
	MUST_EQ(after.exits - before.exits, AFTER);
	prepare_fresh();
	leaf(NULL);
}

/* The instruction after the n-th that is worth it; with SOAK=1 all are. */
static uint64_t next_stop(const struct scene *scene, uint64_t n, unsigned int thinned)
{
	if (getenv("SOAK"))
		return n + 1;
	return n + (n < scene->fine ? 1 : thinned * scene->stride);
}

static void try_scene(const struct scene *scene, uint64_t n)
{
	if (!leave)
		interrupt(scene, n);
	else if (scene->claims)
		jump_claim(scene, n);
	else
		jump(scene, n);
}

static void each_instruction(bool leaving, unsigned int thinned)
{
	leave = leaving;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
		uint64_t n = 0;

		do {
			n = next_stop(&scenes[i], n, thinned);
			try_scene(&scenes[i], n);
		} while (hit);
		printf("%s %s: %llu instructions\n", leaving ? "jump" : "interrupt",
		       scenes[i].name, (unsigned long long)steps);
	}
}

static void both_ways(int flags, unsigned int thinned)
{
	struct sigaction act = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO | flags };

	MUST(!sigaction(SIGTRAP, &act, NULL));
	each_instruction(false, thinned);
	each_instruction(true, thinned);
}

int main(void)
{
	static uint8_t own[65536];
	stack_t ss = { .ss_sp = own, .ss_size = sizeof(own) };

	if (!CAN_STEP) {
		printf("skipped: no program can step itself on this processor\n");
		return 77;
	}
	setbuf(stdout, NULL);
	world_begin(&w, RINGS, 4);
	leaf = LEAF(&w, 1);
	nested = probed(&w, 2, call_leaf);
	leaver = probed(&w, 3, jump_out);
	leaf(NULL);
	both_ways(0, BARE || CALLED ? 4 : 1);
	MUST(!sigaltstack(&ss, NULL));
	both_ways(SA_ONSTACK, BARE || CALLED ? 20 : 5);
	return 0;
}

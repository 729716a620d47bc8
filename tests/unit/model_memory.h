/* SPDX-License-Identifier: MIT */
/*
 * model_memory: a memory of weak order, small enough to try all that it may do.
 *
 * What was stored in a place is a row of messages, in the order that all processors agree upon.
 * A processor loads any that is not older than what it knows of: so a load may be early, and
 * stores may be seen in another order than that of the code. A message tells what its
 * processor knew when it stored with release, or at its last fence before; what it tells is known
 * to a processor that loads it with acquire, or has a fence behind the load. An atomic operation
 * takes the last message, and tells what that has told, too.
 *
 * That is the memory of C11 without those stores that come before loads that stand before
 * them: here each such store has release, or depends on what was loaded. What arm64 does is
 * among what this does: it shows a store to all other processors or to none, and keeps the order
 * of dependent loads, upon which the C code does not rely.
 */
#ifndef TESTS_UNIT_MODEL_MEMORY_H
#define TESTS_UNIT_MODEL_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { CPUS = 3, LOCS = 20, ROW = 10 };

/* Of each place a message: by its number in the row. */
struct view {
	uint8_t of[LOCS];
};

struct message {
	uint8_t val;
	struct view tells;
};

struct cpu {
	struct view knows;
	struct view loaded;	/* told by what it has loaded without acquire */
	struct view fenced;	/* what it knew at its last fence for stores */
};

struct memory {
	struct cpu cpu[CPUS];
	uint8_t n[LOCS];
	struct message row[LOCS][ROW];	/* oldest first */
};

/* Where all views are gone through. */
struct walk {
	unsigned int cpu, loc, i;
};

/* Which places does a processor load from, or store to, as another does? Of others old messages
 * need not be kept for it. */
static uint32_t uses[CPUS];

/* What is found to be wrong; NULL: nothing. */
static const char *wrong;

static inline void must_hold(bool is, const char *what)
{
	if (!is && !wrong)
		wrong = what;
}

/* ---- choices ------------------------------------------------------------- */

enum { CHOICES = 8 };

/* Those that a step makes, which is made again and again until all were tried. */
static struct {
	uint8_t pick[CHOICES], of[CHOICES], n, at;
} chosen;

static inline unsigned int choose(unsigned int of)
{
	unsigned int i = chosen.at++;

	if (i == chosen.n) {
		chosen.pick[i] = 0;
		chosen.n++;
	}
	chosen.of[i] = (uint8_t)of;
	return chosen.pick[i];
}

/* The next ones; false: there are none. */
static inline bool choose_next(void)
{
	while (chosen.n && chosen.pick[chosen.n - 1] + 1 == chosen.of[chosen.n - 1])
		chosen.n--;
	if (!chosen.n)
		return false;
	chosen.pick[chosen.n - 1]++;
	chosen.at = 0;
	return true;
}

/* ---- views --------------------------------------------------------------- */

static inline void join(struct view *v, const struct view *other)
{
	for (unsigned int i = 0; i < LOCS; i++)
		v->of[i] = v->of[i] > other->of[i] ? v->of[i] : other->of[i];
}

static inline void memory_begin(struct memory *m)
{
	for (unsigned int i = 0; i < LOCS; i++)
		m->n[i] = 1;
}

static inline uint8_t latest_value(const struct memory *m, unsigned int loc)
{
	return m->row[loc][m->n[loc] - 1].val;
}

/* So much time has passed that all is seen. */
static inline void see_all(struct memory *m, unsigned int c)
{
	for (unsigned int i = 0; i < LOCS; i++)
		m->cpu[c].knows.of[i] = m->n[i] - 1;
}

/* All views that there are, one after the other; NULL: no more. */
static inline struct view *view_next(struct memory *m, struct walk *w)
{
	unsigned int i = w->i;

	if (w->cpu < CPUS) {
		struct cpu *cpu = &m->cpu[w->cpu];

		w->i = (i + 1) % 3;
		w->cpu += i == 2;
		return i == 0 ? &cpu->knows : i == 1 ? &cpu->loaded : &cpu->fenced;
	}
	for (; w->loc < LOCS; w->loc++, w->i = 0)
		if (w->i < m->n[w->loc])
			return &m->row[w->loc][w->i++].tells;
	return NULL;
}

/* Message `at` of a row has come, or those before it have gone. */
static inline void renumber(struct memory *m, unsigned int loc, unsigned int at, int by)
{
	struct walk w = { 0 };
	struct view *v;

	while ((v = view_next(m, &w)))
		if (v->of[loc] >= at)
			v->of[loc] = (uint8_t)(v->of[loc] + by);
		else if (by < 0)
			v->of[loc] = 0;
}

/* The oldest message of a row that any processor may still load. */
static inline unsigned int oldest(const struct memory *m, unsigned int loc)
{
	unsigned int least = m->n[loc] - 1u;

	for (unsigned int c = 0; c < CPUS; c++)
		if (uses[c] >> loc & 1 && m->cpu[c].knows.of[loc] < least)
			least = m->cpu[c].knows.of[loc];
	return least;
}

/* Forget what no processor can load any more, and what all know, so that like states are the
 * same. */
static inline void memory_tidy(struct memory *m)
{
	struct walk w = { 0 };
	unsigned int loc, n;
	struct view *v;

	for (loc = 0; loc < LOCS; loc++) {
		n = oldest(m, loc);
		if (!n)
			continue;
		renumber(m, loc, n, -(int)n);
		m->n[loc] = (uint8_t)(m->n[loc] - n);
		memmove(m->row[loc], m->row[loc] + n, m->n[loc] * sizeof(struct message));
		memset(m->row[loc] + m->n[loc], 0, n * sizeof(struct message));
	}
	while ((v = view_next(m, &w)))
		for (loc = 0; loc < LOCS; loc++)
			v->of[loc] = m->n[loc] == 1 ? 0 : v->of[loc];
}

/* ---- what processors do -------------------------------------------------- */

static inline void memory_put(struct memory *m, unsigned int c, unsigned int loc, unsigned int at,
			      struct message what)
{
	must_hold(m->n[loc] < ROW, "the model has no room for so many messages");
	if (wrong)
		return;
	renumber(m, loc, at, 1);
	memmove(m->row[loc] + at + 1, m->row[loc] + at, (m->n[loc] - at) * sizeof(what));
	m->n[loc]++;
	m->cpu[c].knows.of[loc] = (uint8_t)at;
	what.tells.of[loc] = (uint8_t)at;
	m->row[loc][at] = what;
}

/* What is told by a store. */
static inline struct view told_by(const struct memory *m, unsigned int c, bool release)
{
	return release ? m->cpu[c].knows : m->cpu[c].fenced;
}

/* It comes behind what its processor knows of that place, and may come before the rest. */
static inline void store(struct memory *m, unsigned int c, unsigned int loc, unsigned int val,
			 bool release)
{
	unsigned int least = m->cpu[c].knows.of[loc] + 1u;
	unsigned int at = least + choose(m->n[loc] - least + 1u);

	memory_put(m, c, loc, at, (struct message){ (uint8_t)val, told_by(m, c, release) });
}

/* Of an atomic operation only what it leaves behind is of interest. */
static inline void change(struct memory *m, unsigned int c, unsigned int loc, unsigned int val,
			  bool release)
{
	struct message what = { (uint8_t)val, told_by(m, c, release) };

	join(&what.tells, &m->row[loc][m->n[loc] - 1].tells);
	memory_put(m, c, loc, m->n[loc], what);
}

/* Later stores tell what is known now. */
static inline void fence_stores(struct memory *m, unsigned int c)
{
	m->cpu[c].fenced = m->cpu[c].knows;
}

/* What was loaded has told. */
static inline void fence_loads(struct memory *m, unsigned int c)
{
	join(&m->cpu[c].knows, &m->cpu[c].loaded);
}

static inline uint8_t load(struct memory *m, unsigned int c, unsigned int loc, bool acquire)
{
	struct cpu *cpu = &m->cpu[c];
	unsigned int i = cpu->knows.of[loc] + choose(m->n[loc] - cpu->knows.of[loc]);

	must_hold(uses[c] >> loc & 1, "a place is used that is not said to be");
	cpu->knows.of[loc] = (uint8_t)i;
	join(acquire ? &cpu->knows : &cpu->loaded, &m->row[loc][i].tells);
	return m->row[loc][i].val;
}

/* If that is what is there, it is exchanged. */
static inline bool exchange(struct memory *m, unsigned int c, unsigned int loc, unsigned int from,
			    unsigned int to, bool acquire)
{
	const struct message *last = &m->row[loc][m->n[loc] - 1];

	if (last->val != from)
		return false;
	if (acquire)
		join(&m->cpu[c].knows, &last->tells);
	change(m, c, loc, to, false);
	return true;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * limiter: which functions take more of a thread's time than they may? Their gates are
 * closed, here, where no injector is there to take them out.
 *
 * At the end of a sub-buffer, so that it costs nothing in between. What recording
 * took is reckoned for all words since the last judgement, by what an event costs and
 * by how many of the last sub-buffer's words are events; and it is compared with the time
 * that has passed. That is more than the processor time that the thread has had, so
 * that one which sleeps or waits for its turn is judged mildly. While it is too much,
 * the most expensive function has to go: no more than needed.
 *
 * The tallies are one table for all threads, for a stack may be small. No thread waits for it:
 * one that finds it taken judges after its next sub-buffer. Left for good by a siglongjmp, it
 * is free again after a second; of two threads that then have it at a time both may come to
 * wrong sums. But a function goes only if most of a sum is its own, as counted again.
 *
 * Where calls are sifted most leave no word. There a thread is judged by a count of its fast and
 * slow paths (sieve.h), and if they were too many, its next ones are sampled, by which the function
 * is found that has to go. The sample is that of the thread which has the table.
 */
#include "payload/payload.h"

enum {
	TALLIES = 2048,		/* a power of two */
	SAMPLES = 1024,		/* entries and exits */
	CLOSED_MOST = 8,	/* gates, by one judgement: the next is soon */
	WINDOWS_STALE = 10,	/* after so many the table is free again */
};

#define LIMIT_ALL 10000		/* session.limit is a part of that */
#define TIME_MOST (1ull << 40)	/* ticks that count; the product has room */

static uint32_t tally[TALLIES];	/* events, by a hash of the function */
static uint64_t taken;		/* the time stamp of the thread that has it; 0: none */

static uint64_t sample[SAMPLES];	/* words of entries */
static uint32_t sampled;
static const struct thread *sampler;	/* NULL: none */

/* What one sub-buffer holds, and how it is looked at. */
struct sample {
	const struct session *s;
	const uint64_t *words, *end;
	uint32_t seed;		/* of the hash: another one each time */
};

static bool take_table(const struct session *s, uint64_t now)
{
	uint64_t seen = observe(&taken);

	return (!seen || now - seen > WINDOWS_STALE * s->window) &&
	       __atomic_compare_exchange_n(&taken, &seen, now, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static uint8_t *gate_of(const struct session *s, uint32_t func)
{
	return (uint8_t *)s + GATES_OFF + func;
}

/* The function of the event at `w`; 0: it is none. */
static uint32_t event_func(const struct sample *m, const uint64_t *w)
{
	uint32_t kind = *w & 3, func = *w >> REC_FUNC_SHIFT, subkind = func & 63;

	if (kind == REC_NONE)
		return 0;
	if (kind == REC_EXT) {
		if (!ext_is_event(subkind) || w + 1 >= m->end)
			return 0;
		func = (w[1] >> REC_TIME_SHIFT) & ((1 << REC_FUNC_BITS) - 1);
	}
	return func < m->s->nfuncs ? func : 0;
}

/* The same of a function whose gate is open, and may be closed. */
static uint32_t open_func(const struct sample *m, const uint64_t *w)
{
	uint32_t func = event_func(m, w);

	return func && observe(gate_of(m->s, func)) == GATE_OPEN ? func : 0;
}

static uint32_t index_of(const struct sample *m, uint32_t func)
{
	return func * m->seed >> 16 & (TALLIES - 1);
}

/* How many events are there of functions that may go? */
static uint64_t count_all(const struct sample *m)
{
	const uint64_t *w;
	uint64_t n = 0;
	uint32_t i, func;

	for (i = 0; i < TALLIES; i++)
		tally[i] = 0;
	for (w = m->words; w < m->end; w++) {
		func = open_func(m, w);
		tally[index_of(m, func)] += func != 0;
		n += func != 0;
	}
	return n;
}

static uint32_t most_events(void)
{
	uint32_t i, most = 0;

	for (i = 1; i < TALLIES; i++)
		if (tally[i] > tally[most])
			most = i;
	return most;
}

/* The function that has most of the events at place `i`, if one has. */
static uint32_t majority(const struct sample *m, uint32_t i)
{
	uint32_t func, n = 0, ret = 0;
	const uint64_t *w;

	for (w = m->words; w < m->end; w++) {
		func = open_func(m, w);
		if (!func || index_of(m, func) != i)
			continue;
		if (!n)
			ret = func;
		n += ret == func ? 1 : -1;
	}
	return ret;
}

static uint32_t judge_count(const struct sample *m, uint32_t func)
{
	const uint64_t *w;
	uint32_t n = 0;

	for (w = m->words; w < m->end; w++)
		n += event_func(m, w) == func;
	return n;
}

/* Close the gate of the function with most events. How many it has; 0: no function has most of
 * those at its place. */
static uint32_t close_one(const struct sample *m)
{
	uint32_t i = most_events(), all = tally[i];
	uint32_t func = all ? majority(m, i) : 0, n = func ? judge_count(m, func) : 0;

	tally[i] = 0;
	if (2 * n <= all)
		return 0;
	publish(gate_of(m->s, func), 0);
	return n;
}

/* Ticks that recording may take in so many. */
static uint64_t allowed(const struct session *s, uint64_t time)
{
	return (time < TIME_MOST ? time : TIME_MOST) * s->limit / LIMIT_ALL;
}

/* `words` were recorded in so much time, of which the sample has the last. */
static void judge_words(const struct sample *m, uint64_t words, uint64_t time)
{
	uint64_t here = m->end - m->words, left = count_all(m), n;
	int i;

	for (i = 0; i < CLOSED_MOST &&
	     left * m->s->cost * words / here > allowed(m->s, time); i++) {
		n = close_one(m);
		left -= n < left ? n : left;
	}
}

/* Nothing that the thread records is kept from now on: this is its last end of a
 * sub-buffer, and what it drops costs it something, too. */
static bool is_last(const struct session *s, const struct thread *t)
{
	return !s->keep_last && thread_ring(t)->head >= s->nsub;
}

void limiter_look(const struct session *s, struct thread *t, const struct subbuf *b,
		  uint64_t now)
{
	uint64_t n = b->reserved / 8, most = (s->sub_size - sizeof(*b)) / 8;
	struct sample m = { s, (const uint64_t *)(b + 1), .seed = (uint32_t)now | 1 };

	m.end = m.words + (n < most ? n : most);
	t->judged_words += m.end - m.words;
	if (!t->judged_at || m.end == m.words) {
		t->judged_at = t->judged_at ? t->judged_at : now;
		return;
	}
	if ((now - t->judged_at < s->window && !is_last(s, t)) || !take_table(s, now))
		return;
	judge_words(&m, t->judged_words, now - t->judged_at);
	publish(&taken, 0);
	t->judged_at = now;
	t->judged_words = 0;
}

/* ---- where calls are sifted ---------------------------------------------- */

bool limiter_samples(const struct thread *t)
{
	return observe(&sampler) == t;
}

static void begin_window(struct thread *t, uint64_t now)
{
	t->judged_at = now;
	t->judged_words = 0;
}

/* What the thread has counted it did before it was sampled. */
static void add_sample(const struct session *s, struct thread *t, uint64_t func)
{
	struct sample m = { s, sample, sample + SAMPLES, .seed = (uint32_t)t->judged_at | 1 };
	uint32_t n = observe(&sampled);

	if (n < SAMPLES) {
		sample[n] = REC_ENTRY | func << REC_FUNC_SHIFT;
		publish(&sampled, n + 1);
	}
	if (n + 1 < SAMPLES)
		return;
	judge_words(&m, t->judged_words, observe(&taken) - t->judged_at);
	publish(&sampler, 0);
	begin_window(t, observe(&taken));
	publish(&taken, 0);
}

void limiter_sift(const struct session *s, struct thread *t, uint64_t func)
{
	uint64_t now;

	if (limiter_samples(t)) {
		add_sample(s, t, func);
		return;
	}
	if (!(t->losses & SIEVE_TURN))
		return;
	now = cpu_clock();
	if (!t->judged_at)
		begin_window(t, now);
	else
		t->judged_words += SIEVE_TURN / 2;
	if (!t->judged_words || now - t->judged_at < s->window)
		return;
	if (t->judged_words * s->cost <= allowed(s, now - t->judged_at)) {
		begin_window(t, now);
	} else if (take_table(s, now)) {
		publish(&sampled, 0);
		publish(&sampler, t);
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * start: the probes are in, and we leave them there: a flight recorder.
 *
 *  1. what later visits are to know of it is written into the session
 *  2. it says that it goes on by itself, and that no inject holds it
 *  3. no reader is expected any more
 *
 * Killed before 3, our end is what it is after any other trace: the payload learns of
 * it and switches itself off, and `stop` finishes.
 */

#include "injector/log/say.h"
#include "injector/reader/reader.h"
#include "injector/session/session_file.h"
#include "injector/session/lease.h"
#include "injector/session/notes.h"
#include "injector/show/overhead.h"
#include "injector/show/refused.h"
#include "injector/verbs/trace_impl.h"
#include "injector/verbs/watches.h"

enum { LATER_VALUES = 2 << 20 };	/* as text, of functions that are added later */

uint64_t start_room(const struct trace *t)
{
	return t->opt->verb == VERB_START ?
		notes_room(&t->mods, &t->sel, t->known_funcs, t->file ? 0 : LATER_VALUES) : 0;
}

enum {
	LIMIT_USUAL = 1000,	/* hundredths of a percent */
	LIMIT_NONE = 10000,
	COST_MOST = 1 << 20,
	JUDGED_NS = 100 * 1000 * 1000,
};

/* All of a file's room is taken at once, for every thread that may come. */
enum { FILE_BUFFER = 256 << 10 };

uint64_t start_buffer(const struct trace *t)
{
	return t->opt->buffer ? t->opt->buffer : t->file ? FILE_BUFFER : 0;
}

int start_begin(struct trace *t)
{
	return t->opt->output ? session_file_make(t->opt->output, &t->file) : 0;
}

void start_end(struct trace *t)
{
	if (!t->file)
		return;
	close(t->file);
	if (!t->left)
		session_file_drop(t->opt->output);
}

static int write_notes(struct trace *t)
{
	struct about *a = &t->description.about;
	struct segment seg = { .fd = t->target.mem, .at = t->inf.base,
			       .size = t->inf.map.shape.total };
	int err;

	/* What is in a file may be read when the process is no more: then callers have the names
	 * that these files give. */
	for (size_t i = 0; i < t->mods.n && t->file && t->opt->stack; i++)
		if (module_symbols(&t->mods.v[i]) < 0)
			fail_clear();
	err = describe(t->pid, &t->mods, &t->description);
	if (err)
		return err;
	a->funcs = t->live.funcs;
	a->nfuncs = t->live.nfuncs;
	a->probed = t->live.nprobed;
	a->refused = refused_count(&t->sel);
	a->pause_ns = t->pause;
	a->cost = trace_cost(t);
	a->clock = *reader_clock(t->reader);
	a->begin = reader_now();
	a->filter = options_filter(t->opt);
	return notes_write(&seg, t->inf.map.s, a);
}

/* Of an entry or an exit, in ticks; where that could not be measured, what the clock
 * alone takes. Where calls are sifted most read nothing, and slow paths count for more than fast
 * ones (payload/sieve.h). */
static uint32_t event_cost(const struct trace *t, double ticks_of_ns)
{
	struct probe_cost c = trace_cost(t);
	double more = t->way == &way_sifted ? 0 : overhead_reading(&t->live);
	double ret = cost_is_known(&c) ? (double)(c.pair / 2000 + 1) :
		overhead_costs().recorded * ticks_of_ns + 1;

	return (uint32_t)MIN(ret + more * ticks_of_ns, (double)COST_MOST);
}

int start_limits(struct trace *t)
{
	struct session *s = t->inf.map.s;
	const struct clock *c = reader_clock(t->reader);
	double ticks_of_ns = (double)c->run_ticks / (double)MAX(c->run_ns, 1u);
	uint32_t limit = t->opt->max_overhead ? t->opt->max_overhead : LIMIT_USUAL;

	s->cost = event_cost(t, ticks_of_ns);
	s->window = (uint64_t)(JUDGED_NS * ticks_of_ns);
	__atomic_store_n(&s->limit, limit < LIMIT_NONE ? limit : 0, __ATOMIC_RELEASE);
	return watches_arm(t->opt, &t->sel, c, s);
}

int start_leave(struct trace *t)
{
	struct session *s = t->inf.map.s;
	int err = write_notes(t);						/* 1 */

	if (err)
		return err;
	__atomic_store_n(&s->holder_pid, 0, __ATOMIC_SEQ_CST);			/* 2 */
	__atomic_store_n(&s->started, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->reader, 0, __ATOMIC_SEQ_CST);			/* 3 */
	lease_give(NULL);
	t->left = true;
	say_hint("%d goes on recording by itself; inject snapshot -p %d writes what it holds, "
		 "inject stop -p %d ends it", t->pid, t->pid, t->pid);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * start: the probes are in, and we leave them there: a flight recorder.
 *
 *  1. what later visits are to know of it is written into the session
 *  2. it says that it goes on by itself, and that nobody holds it
 *  3. nobody is expected to read any more
 *
 * Killed before 3, our end is what it is after any other trace: the payload learns of
 * it and switches itself off, and `stop` finishes.
 */
#include <signal.h>

#include "injector/keepsake.h"
#include "injector/lease.h"
#include "injector/notes.h"
#include "injector/reader.h"
#include "injector/refused.h"
#include "injector/say.h"
#include "injector/trace_impl.h"

uint64_t start_room(const struct trace *t)
{
	return t->opt->verb == VERB_START ? notes_room(&t->mods, &t->sel, t->known_funcs) : 0;
}

/* All of a file's room is taken at once, for every thread that may come. */
enum { FILE_BUFFER = 256 << 10 };

uint64_t start_buffer(const struct trace *t)
{
	return t->opt->buffer ? t->opt->buffer : t->file ? FILE_BUFFER : 0;
}

int start_begin(struct trace *t)
{
	/* A limit of ours is an error like any other. */
	signal(SIGXFSZ, SIG_IGN);
	return t->opt->output ? keepsake_make(t->opt->output, &t->file) : 0;
}

void start_end(struct trace *t)
{
	if (!t->file)
		return;
	close(t->file);
	if (!t->left)
		keepsake_drop(t->opt->output);
}

static int write_notes(struct trace *t)
{
	struct about *a = &t->description.about;
	struct segment seg = { .fd = t->target.mem, .at = t->inf.base,
			       .size = t->inf.map.shape.total };
	int err = describe(t->pid, &t->mods, &t->description);

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
	return notes_write(&seg, t->inf.map.s, a);
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

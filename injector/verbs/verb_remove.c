/* SPDX-License-Identifier: MIT */
/* remove: take some functions out of a session that goes on by itself. */
#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "injector/log/say.h"
#include "injector/modules/modules.h"
#include "injector/patch/disarm.h"
#include "injector/proc/signals.h"
#include "injector/ptrace/pace.h"
#include "injector/verbs/verbs.h"
#include "injector/verbs/visit.h"
#include "trace/read/choose.h"

struct removing {
	const struct options *options;
	struct visit visit;
	struct modules mods;
	struct live live;	/* what stands, as the journal has it */
	bool *in;		/* to be taken out, by function id */
	size_t before;		/* functions that are probed */
	bool stays;		/* one that was meant does */
};

static size_t remove_count(const struct removing *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->visit.notes.about.nfuncs; i++)
		n += r->in[i] && !r->visit.notes.about.funcs[i].hidden;
	return n;
}

/* Copies that the mark of another tells of are probed as long as that is. */
static void add_with(struct removing *r, bool *probed)
{
	const struct about *a = &r->visit.notes.about;

	for (size_t i = 0; i < a->nfuncs; i++)
		for (size_t k = 0; k < a->funcs[i].nwith && probed[i]; k++) {
			uint32_t id = a->funcs[i].with[k];

			if (id < a->nfuncs && !probed[id]) {
				probed[id] = true;
				r->before++;
			}
		}
}

/* A mark that tells of several copies goes with the last of them. */
static void keep_with(struct removing *r, const bool *probed)
{
	const struct about *a = &r->visit.notes.about;

	for (size_t i = 0; i < a->nfuncs; i++) {
		const struct reader_func *f = &a->funcs[i];
		size_t going = 0;

		for (size_t k = 0; k < f->nwith && probed[i]; k++)
			going += f->with[k] < a->nfuncs && r->in[f->with[k]];
		if (!going || going == f->nwith)
			continue;
		say_hint("%s stays: another copy begins with the same instruction", f->name);
		r->stays = true;
		for (size_t k = 0; k < f->nwith; k++)
			if (f->with[k] < a->nfuncs)
				r->in[f->with[k]] = false;
	}
}

/* Marks that no more than tell where copies end go with the last of these. */
static void choose_ends(struct removing *r, const bool *probed)
{
	const struct about *a = &r->visit.notes.about;

	for (size_t i = 0; i < a->nfuncs; i++) {
		const struct reader_func *f = &a->funcs[i];
		bool needed = !f->hidden;

		for (size_t k = 0; k < f->nends && !needed; k++) {
			uint32_t id = f->ends[k].func;

			needed = id < a->nfuncs && probed[id] && !r->in[id];
		}
		r->in[i] |= !needed;
	}
}

/* Which functions are meant, of those that are probed? */
static int remove_choose(struct removing *r)
{
	const struct options *o = r->options;
	const struct about *a = &r->visit.notes.about;
	auto_free bool *probed = visit_probed(&r->visit, &r->before);
	size_t found = 0;
	int err = 0;

	r->in = calloc(a->nfuncs + 1, sizeof(*r->in));
	if (!probed || !r->in)
		return fail(ENOMEM, "choose functions");
	for (size_t i = 0; i < o->ninclude && !err; i++)
		err = choose_names(a, &o->include[i], true, r->in, &found);
	for (size_t i = 0; i < o->nexclude && !err; i++)
		err = choose_names(a, &o->exclude[i], false, r->in, &found);
	add_with(r, probed);
	for (size_t i = 0; i < a->nfuncs; i++)
		r->in[i] &= probed[i];
	keep_with(r, probed);
	if (remove_count(r))
		choose_ends(r, probed);
	return err;
}

/* One of them goes because another one does. */
static void say_others(const struct removing *r, size_t asked)
{
	size_t all = remove_count(r);

	if (all > asked)
		say_hint("%zu more go%s with them, whose jumps need their bytes", all - asked,
			 all - asked == 1 ? "es" : "");
}

/* The journal lies in memory that the target can write. */
static int remove_check(const struct removing *r, const struct change *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!modules_hold(&r->mods, c[i].addr, c[i].to, c[i].len))
			return fail(0, "the journal of %d does not agree with its files at %#lx; "
				    "inject stop -p %d looks at all of its code",
				    r->visit.target.pid, (unsigned long)c[i].addr,
				    r->visit.target.pid);
	return 0;
}

/* Calls of it that are open may end unseen: a closed gate says that no frame tells of them. */
static void close_gate(const struct removing *r, uint32_t func)
{
	const uint8_t closed = 0;

	segment_write(&r->visit.segment, GATES_OFF + func, &closed, sizeof(closed));
}

static void remove_mark(const struct removing *r)
{
	for (uint32_t i = 0; i < r->visit.notes.about.nfuncs && i < 1u << REC_FUNC_BITS; i++)
		if (r->in[i])
			close_gate(r, i);
	for (size_t i = 0; i < r->live.nchanges; i++)
		if (r->in[r->live.changes[i].func])
			session_mark(&r->visit.target, &r->visit.session,
				     r->live.changes[i].slot, SLOT_REMOVED);
	fail_clear();
}

/* What tells that a seccomp filter comes, which may end the process for a system call of ours,
 * stays as long as there are such. */
static int keep_guards(const struct removing *r)
{
	const struct about *a = &r->visit.notes.about;
	size_t n = MIN(a->nfuncs, (size_t)1 << REC_FUNC_BITS);

	if (r->visit.session.s.reads != READS_BY_CALL)
		return 0;
	auto_free uint8_t *gates = calloc(n + 1, 1);
	if (!gates)
		return fail(ENOMEM, "choose functions");
	int err = segment_read(&r->visit.segment, GATES_OFF, gates, n);
	for (size_t i = 0; i < n && !err; i++)
		if (r->in[i] && gates[i] == GATE_GUARDS)
			err = fail(0, "%s has to stay probed as long as values are read: it tells "
				   "when %d sets a seccomp filter, which may end it for that; "
				   "inject stop -p %d ends both",
				   strcmp(a->funcs[i].module, "?") ? a->funcs[i].name : "prctl",
				   r->visit.target.pid, r->visit.target.pid);
	return err;
}

static int take_out(struct removing *r)
{
	auto_free struct change *changes = NULL;
	size_t n, asked = remove_count(r);

	int err = disarm_spread(&r->live, r->in);
	err = err ? err : keep_guards(r);
	if (err)
		return err;
	say_others(r, asked);
	err = disarm_list(&r->live, r->in, &changes, &n);
	err = err ? err : remove_check(r, changes, n);
	err = err ? err : disarm(&r->visit.target, changes, &n, r->options->max_pause);
	if (!err)
		remove_mark(r);
	return err;
}

static int remove_some(struct removing *r)
{
	int err = visit_claimed(&r->visit);

	err = err ? err : modules_open_process(r->visit.target.pid, &r->mods);
	if (!err)
		visit_tell_gone(&r->visit, &r->mods);
	err = err ? err : visit_changes(&r->visit, &r->live);
	err = err ? err : remove_choose(r);
	return err || !remove_count(r) ? err : take_out(r);
}

static void say_out(const struct removing *r, size_t n)
{
	pid_t pid = r->visit.target.pid;

	say("%zu function%s of %zu not probed any more; longest pause %.1f ms", n,
	    n == 1 ? "" : "s", r->before, (double)r->visit.target.longest_pause / 1e6);
	if (n == r->before)
		say("%d records nothing any more; inject start -p %d -f GLOB begins again", pid,
		    pid);
}

int verb_remove(const struct options *o)
{
	struct removing r = { .options = o };

	say_quiet(o->quiet);
	pace_set(PACE_LEISURE);
	int err = signals_begin();
	err = err ? err : visit_open(o->pid, &r.visit);
	if (err)
		return verb_failed(err);
	err = remove_some(&r);
	size_t n = err ? 0 : remove_count(&r);
	int status = err ? verb_failed(err) : n ? STATUS_DONE : STATUS_NOTHING;
	if (n)
		say_out(&r, n);
	else if (!err && !r.stays)
		say("no function that is probed in %d matches; inject status -p %d names them",
		    o->pid, o->pid);
	live_clear(&r.live);
	free(r.in);
	modules_close(&r.mods);
	visit_close(&r.visit);
	return status;
}

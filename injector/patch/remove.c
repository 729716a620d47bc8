/* SPDX-License-Identifier: MIT */
#include "injector/patch/remove.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "injector/log/say.h"
#include "injector/modules/modules.h"
#include "injector/patch/cover.h"
#include "injector/patch/edit.h"
#include "injector/patch/foreign.h"
#include "injector/patch/order.h"
#include "injector/patch/restore.h"
#include "injector/patch/semaphores.h"
#include "injector/patch/sharers.h"
#include "injector/patch/slots.h"
#include "injector/patch/stuck.h"
#include "injector/patch/traps.h"
#include "injector/proc/procfs.h"
#include "injector/proc/tracer.h"
#include "injector/ptrace/pace.h"
#include "injector/ptrace/tracing.h"
#include "injector/ptrace/text.h"
#include "injector/session/session.h"
#include "plan/plan.h"

enum {
	SCANS = 200,		/* for children that fork while we look */
	NAMED = 3,		/* differences of one process */
	RETRIES = 3,
	LOOKS = 3,		/* at a process that seems to be gone */
};

/* The removal of one process. */
struct removing {
	struct target target;
	struct modules mods;
	struct old_session old;
	struct change *changes;	/* from jumps to the original, holes last */
	size_t n, cap;
	size_t restored;
	struct text_diffs before;	/* what the journal says of that */
	bool own;		/* the journal's states are meant to be this process's: see
				 * has_journal */
	bool damaged;		/* the journal */
	bool traps;		/* one stays, or may be put back by another tool */
	raddr_t moved;		/* a jump of ours that stands where no file's code is; 0: none */
	struct text_diffs strays;	/* bytes of others there: ours, or the same by chance */
	struct removal *report;
};

static void complain(struct removal *r, const char *text)
{
	size_t n = strlen(r->left);

	snprintf(r->left + n, sizeof(r->left) - n, "%s%s", n ? "; " : "", text);
}

/*
 * The journal lies in memory that the target can write, so it is not believed:
 * what is to be restored must be what the mapped file holds at that place.
 */
static bool is_original(struct removing *r, const struct change *c)
{
	return modules_hold(&r->mods, c->addr, c->to, c->len);
}

/* The journal is shared with forked children and says what was last done to
 * one of them; whether a jump stands in this process only its text says. */
static bool may_stand(const struct slot *s)
{
	return s->kind != SLOT_SEMAPHORE &&
		(s->state == SLOT_PLANNED || s->state == SLOT_ACTIVE || s->state == SLOT_REMOVED);
}

/* So many bytes of ours no other memory has by chance. Fewer may be a jump's that leads to a stub:
 * that is looked at when all is done. */
enum { CERTAIN = 4 };

static bool is_trap(const struct change *undo)
{
	return undo->len >= arch_host()->trap_size &&
		!memcmp(undo->from, arch_host()->trap, arch_host()->trap_size);
}

static int note_moved(struct removing *r, const struct change *undo)
{
	if (undo->len >= CERTAIN || r->report->changes || is_trap(undo)) {
		r->moved = undo->addr;
		return 0;
	}
	struct text_diff *d = vec_push(r->strays.v, r->strays.n, r->strays.cap);

	if (!d)
		return fail(ENOMEM, "read the journal");
	*d = (struct text_diff){ undo->addr, undo->len, { 0 } };
	return 0;
}

static bool reads_now(struct removing *r, const struct change *c, uint8_t now[CHANGE_MAX])
{
	bool there = !target_read(&r->target, c->addr, now, c->len);

	fail_clear();
	return there;
}

/*
 * Places that are mapped no more (a library was unloaded) have nothing to restore. But the program
 * may have moved its code there to memory of its own, with our jumps, or made it no code for a
 * while. Nothing says what was there before, so such a jump stays, with all that it needs.
 */
static int list_change(struct removing *r, const struct change *undo)
{
	uint8_t now[CHANGE_MAX];

	if (!undo->len || undo->len > CHANGE_MAX)
		return 0;
	if (!modules_image(&r->mods, undo->addr)) {
		if (!reads_now(r, undo, now) || memcmp(now, undo->from, undo->len) != 0)
			return 0;
		int err = note_moved(r, undo);

		if (err)
			return err;
	}
	struct change *c = vec_push(r->changes, r->n, r->cap);
	if (!c)
		return fail(ENOMEM, "read the journal");
	*c = *undo;
	return 0;
}

static int list_journal(struct removing *r)
{
	int err = 0;

	for (uint32_t i = 0; r->old.found && i < r->old.s.nslots && !err; i++) {
		const struct slot *s = &r->old.slots[i];
		struct change made = slot_change(s, i), undo = text_reversed(&made);

		err = may_stand(s) ? list_change(r, &undo) : 0;
	}
	return err;
}

/* What is there comes before what an earlier visit has removed. */
static int by_place(const void *a, const void *b, void *removing)
{
	const struct change *x = a, *y = b;
	const struct slot *slots = ((const struct removing *)removing)->old.slots;
	int order = x->addr != y->addr ? (x->addr < y->addr ? -1 : 1) : x->len - y->len;

	order = order ? order : memcmp(x->from, y->from, x->len);
	return order ? order : (slots[x->slot].state == SLOT_REMOVED) -
		(slots[y->slot].state == SLOT_REMOVED);
}

/* Where one visit has an exit another may record an entry, by the same jump to the same
 * hole; and what two slots tell of is restored once. */
static void drop_twins(struct removing *r)
{
	size_t kept = 0;

	if (r->n)
		qsort_r(r->changes, r->n, sizeof(*r->changes), by_place, r);
	for (size_t i = 0; i < r->n; i++) {
		const struct change *c = &r->changes[i], *last = &r->changes[kept ? kept - 1 : 0];

		if (!kept || c->addr != last->addr || c->len != last->len ||
		    memcmp(c->from, last->from, c->len) != 0)
			r->changes[kept++] = *c;
	}
	r->n = kept;
}

/* The changes that undo the visit: as the inject that made it remembers them, else
 * by the journal. */
static int list_changes(struct removing *r)
{
	const struct removal *known = r->report;
	int err = known->changes ? 0 : list_journal(r);

	drop_twins(r);
	for (size_t i = 0; i < known->nchanges && !err; i++) {
		struct change c = text_reversed(&known->changes[i]);

		err = list_change(r, &c);
	}
	vec_sort(r->changes, r->n, order_restored);
	return err;
}

/* Another file's code is there by now: nothing of ours can come back. */
static bool is_of_file(struct removing *r, const struct change *c)
{
	uint8_t now[CHANGE_MAX];

	return reads_now(r, c, now) && modules_hold(&r->mods, c->addr, now, c->len);
}

/* What becomes of one jump, for its own sake. Another tool has written over
 * it, and may put it back, or the journal is wrong: then it is stuck. (A short one of
 * an earlier visit may have left the very bytes that another file has there now.) */
static enum fate fate_of(struct removing *r, const struct change *c, uint8_t is)
{
	if (is == TEXT_FROM && modules_hold(&r->mods, c->addr, c->from, c->len))
		return FATE_NONE;
	if (is == TEXT_FROM)
		return is_original(r, c) ? FATE_GOES : FATE_STAYS;
	return is == TEXT_OTHER && (r->report->changes || !r->old.found ||
				    r->old.slots[c->slot].state != SLOT_REMOVED) &&
		!is_of_file(r, c) ? FATE_STAYS : FATE_NONE;
}

/* Keep the changes whose jump really stands in this process's text and can go.
 * What else may be wrong is found in the end (judge). */
static int keep_standing(struct removing *r)
{
	auto_free uint8_t *fate = malloc(r->n + 1);
	size_t kept = 0;

	if (!fate)
		return fail(ENOMEM, "look at the text");
	int err = text_look(&r->target, r->changes, r->n, fate);
	err = err ? err : cover_settle(r->changes, r->n, fate);
	if (err)
		return err;
	for (size_t i = 0; i < r->n; i++)
		fate[i] = (uint8_t)fate_of(r, &r->changes[i], fate[i]);
	err = stuck_spread(r->changes, r->n, fate);
	if (err)
		return err;
	for (size_t i = 0; i < r->n; i++) {
		r->traps |= fate[i] == FATE_STAYS && is_trap(&r->changes[i]);
		if (fate[i] == FATE_GOES)
			r->changes[kept++] = r->changes[i];
	}
	r->n = kept;
	fail_clear();
	return 0;
}

static void lower_semaphores(void *ctx)
{
	struct removing *r = ctx;

	semaphores_lower(&r->target, &r->old, &r->mods, r->own);
}

static int restore_all(struct removing *r)
{
	struct restore todo = { .restored = lower_semaphores, .ctx = r,
				 .target = &r->target, .changes = r->changes, .n = r->n,
				.max_pause = r->report->max_pause, .whole = true,
				.session = r->old.found ? &r->old.s : NULL };
	int err = restore(&todo);

	r->report->forced = MAX(r->report->forced, todo.forced);
	r->restored += todo.done;
	if (err)
		return err;
	r->report->sites += r->restored;
	r->report->processes++;
	return 0;
}

/* Counters that may be another tracer's, too: nothing of ours is left that could tell. */
static void mark_removed(struct removing *r)
{
	for (uint32_t i = 0; r->own && r->old.found && i < r->old.s.nslots; i++)
		if (session_is_pending(&r->old.slots[i]))
			session_mark(&r->target, &r->old, i, SLOT_REMOVED);
	fail_clear();
}

static void complain_of(struct removing *r, const struct text_diffs *diffs)
{
	char line[256];
	size_t n = 0;

	for (size_t i = 0; i < diffs->n && i < NAMED; i++)
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%#lx", i ? ", " : "",
				      (unsigned long)diffs->v[i].addr);
	if (diffs->n > NAMED)
		snprintf(line + n, sizeof(line) - n, " and %zu%s more places",
			 diffs->n - NAMED, diffs->more ? " or" : "");
	auto_free char *text = base_printf("the code of %d (%s) differs from its file at %s%s",
					   r->target.pid, r->target.comm, line,
					   r->damaged ? ", and its journal is damaged" : "");
	complain(r->report, text ? text : "memory is out");
}

static void complain_of_moved(struct removing *r)
{
	auto_free char *text = base_printf("%d (%s) has moved its code, or made it no code for a "
					   "while: what is there at %#lx is no file's, and has a "
					   "jump of ours", r->target.pid, r->target.comm,
					   (unsigned long)r->moved);
	complain(r->report, text ? text : "memory is out");
}

/* What XRay's runtime has rewritten meanwhile is its own, and never ours. */
static bool is_rewritten(struct removing *r, const struct text_diff *d)
{
	struct module *m = modules_image(&r->mods, d->addr);

	if (!m || module_symbols(m) < 0 || !m->symbols->nsleds) {
		fail_clear();
		return false;
	}
	for (size_t i = 0; i < d->len; i++)
		if (!plan_in_sled(arch_host(), m->symbols, d->addr + i - m->bias))
			return false;
	return true;
}

static void drop_rewritten(struct removing *r, struct text_diffs *diffs)
{
	size_t kept = 0;

	for (size_t i = 0; i < diffs->n; i++)
		if (!is_rewritten(r, &diffs->v[i]))
			diffs->v[kept++] = diffs->v[i];
	diffs->n = kept;
}

/* The whole text has the last word, wherever the journal says that we were.
 * Where inject never was, it has left nothing but what leads into its stubs. */
static int remove_judge(struct removing *r)
{
	struct text_diffs diffs;
	int err = verify_lasting(&r->target, r->report->before ? r->report->before : &r->before,
				 &diffs);

	if (!err)
		drop_rewritten(r, &diffs);
	if (!err && !r->old.ino) {
		r->report->foreign = diffs.n;
		err = verify_keep_probes(&r->target, &diffs);
		r->report->foreign -= diffs.n;
	}
	if (!err && diffs.n)
		complain_of(r, &diffs);
	err = err || !r->strays.n ? err : verify_keep_probes(&r->target, &r->strays);
	if (!err && r->strays.n)
		r->moved = r->strays.v[0].addr;
	if (!err && r->moved)
		complain_of_moved(r);
	verify_clear(&diffs);
	return err;
}

/* As it stands now. -EIO when the target unloads a library meanwhile. */
static int restore_standing(struct removing *r)
{
	modules_close(&r->mods);
	r->n = 0;
	r->moved = 0;
	verify_clear(&r->strays);
	r->traps = false;
	int err = modules_open_process(r->target.pid, &r->mods);

	err = err ? err : list_changes(r);
	err = err ? err : keep_standing(r);
	semaphores_prepare(&r->old, &r->mods);
	err = err || !r->n ? err : restore_all(r);
	/* We may have been killed between the last jump and the first counter. */
	if (!err && r->own)
		lower_semaphores(r);
	return err;
}

static int remove_here(void *ctx)
{
	struct removing *r = ctx;
	int err = foreign_read(&r->target, &r->old, &r->before);

	err = err ? err : restore_standing(r);
	for (int i = 1; i < LOOKS && err == -EIO; i++) {
		fail_clear();
		err = restore_standing(r);
	}
	/* A trap of ours that stays is the program's death without its handler. */
	if (!err && r->old.found && !r->traps)
		err = traps_unhook(&r->target, &r->mods, &r->old.s);
	r->report->longest_pause = MAX(r->report->longest_pause, r->target.longest_pause);
	r->report->repaired += r->target.repaired;
	r->report->shortened += r->target.shortened;
	return err;
}

static int conclude(struct removing *r)
{
	int err = remove_judge(r);

	if (!err && !r->report->left[0])
		mark_removed(r);
	return err;
}

static void removing_clear(struct removing *r)
{
	modules_close(&r->mods);
	session_forget(&r->old);
	verify_clear(&r->before);
	verify_clear(&r->strays);
	free(r->changes);
	target_close(&r->target);
}

/* One that is damaged is none: the text shows what it would have told. */
static int find_journal(struct removing *r)
{
	int err = session_find(&r->target, &r->old);

	r->damaged = err == -EBADMSG;
	if (!r->damaged)
		return err;
	fail_clear();
	r->old.found = false;
	return 0;
}

static bool is_other(pid_t other, pid_t pid, const struct removal *r)
{
	uint64_t start = r->since ? procfs_start_time(other) : 0;

	return other != pid && other != getpid() && (!start || start >= r->since) &&
		sharers_has(other, r->session);
}

/* The journal is its process's, and that of a forked child only if it was named, and that process
 * is gone. */
static bool has_journal(pid_t pid, bool named, const struct removing *r)
{
	auto_free pid_t *pids = NULL;
	bool of = r->old.found && session_is_of(&r->old.s, pid);
	int n = r->old.found && !of && named ? procfs_processes(&pids) : 0;

	for (int i = 0; i < n; i++)
		if (is_other(pids[i], pid, r->report) && session_is_of(&r->old.s, pids[i]))
			return false;
	return of || named;
}

/*
 * One process; another than the named one, which the caller has claimed, only if the session is
 * its newest, and no other inject works on it. Nothing waits for what is looked at before and
 * after.
 */
static int remove_one(pid_t pid, bool named, struct removal *ret)
{
	struct removing r = { .report = ret };
	enum pace before = pace_set(PACE_LEISURE);
	int err = target_open(pid, &r.target);

	err = err ? err : find_journal(&r);
	if (!err && !named && !ret->by_force && ret->session == r.old.ino) {
		session_forget(&r.old);
		err = target_claim(&r.target);
		err = err ? err : find_journal(&r);
	}
	if (!err)
		tracer_await(pid, &ret->waited);
	if (!err && !ret->session)
		ret->session = r.old.ino;
	r.own = !err && has_journal(pid, named, &r);
	if (!err && (named || ret->session == r.old.ino))
		err = tracing(remove_here, &r) ?: conclude(&r);
	removing_clear(&r);
	pace_set(before);
	return err;
}

bool remove_has_others(pid_t pid, const struct removal *r)
{
	auto_free pid_t *pids = NULL;
	int n = procfs_processes(&pids);

	for (int i = 0; i < n; i++)
		if (is_other(pids[i], pid, r))
			return true;
	return false;
}

void remove_each_other(pid_t pid, const struct removal *r,
		       void (*each)(void *ctx, pid_t other), void *ctx)
{
	auto_free pid_t *pids = NULL;
	int n = procfs_processes(&pids);

	for (int i = 0; i < n; i++)
		if (is_other(pids[i], pid, r))
			each(ctx, pids[i]);
}

/* A child that has ended meanwhile, or executed another program, has taken its probes
 * along. */
static void remove_other(pid_t other, struct removal *ret)
{
	if (remove_one(other, false, ret) && sharers_has(other, ret->session))
		complain(ret, fail_text());
	fail_clear();
}

/* Clean every other process that maps the session; how many had probes. */
static int scan_others(pid_t pid, struct removal *ret)
{
	auto_free pid_t *pids = NULL;
	size_t before = ret->processes;
	int n = procfs_processes(&pids);

	if (n < 0)
		return fail(-n, "read /proc");
	for (int i = 0; i < n; i++)
		if (is_other(pids[i], pid, ret))
			remove_other(pids[i], ret);
	return (int)(ret->processes - before);
}

static int remove_others(pid_t pid, struct removal *ret)
{
	enum pace before = pace_set(PACE_LEISURE);
	struct removal known = *ret;
	size_t said = strlen(ret->left);
	int n = ret->session ? 1 : 0;

	/* A child may fork while we look: until a scan finds no probes. What is left is told by
	 * the last. What has changed since a child was forked, as a library was unloaded, only the
	 * journal has. */
	for (int i = 0; (n > 0 || (!n && ret->left[said])) && i < SCANS; i++) {
		ret->left[said] = '\0';
		n = scan_others(pid, ret);
		ret->changes = NULL;
		ret->nchanges = 0;
	}
	ret->changes = known.changes;
	ret->nchanges = known.nchanges;
	pace_set(before);
	if (n < 0)
		return n;
	return ret->left[0] || n > 0 ? (fail(0, "%s", ret->left), -EIO) : 0;
}

static int remove_all(pid_t pid, struct removal *ret)
{
	int err = remove_one(pid, true, ret);

	/* Gone, but alive: it executes another program. */
	for (int i = 1; err == -ESRCH && procfs_live_thread(pid) && i < LOOKS; i++) {
		fail_clear();
		err = remove_one(pid, true, ret);
	}
	if (err && procfs_live_thread(pid))
		return err;
	fail_clear();
	int others = remove_others(pid, ret);
	if (others || !err)
		return others;
	fail(0, "cannot remove probes from %d: it has ended meanwhile", pid);
	return -ESRCH;
}

/* What fails once for want of memory or the like may succeed: it costs little
 * to look again, and what is restored already is not touched. */
static int try_again(int (*step)(pid_t pid, struct removal *), pid_t pid, struct removal *ret)
{
	int err = -EAGAIN;

	for (int i = 0; i < RETRIES && err && err != -ESRCH; i++) {
		ret->left[0] = '\0';
		ret->foreign = 0;
		fail_clear();
		err = step(pid, ret);
	}
	return err;
}

int remove_probes(pid_t pid, struct removal *ret)
{
	return try_again(remove_all, pid, ret);
}

int remove_from_others(pid_t pid, struct removal *ret)
{
	return try_again(remove_others, pid, ret);
}

void removal_say_pause(const struct removal *r)
{
	if (r->forced > r->max_pause)
		say("%d stops of at most %.3g ms brought the removal no further; one of %.3g ms did",
		    EDIT_MODEST, (double)r->max_pause / 1e6, (double)r->forced / 1e6);
}

/* SPDX-License-Identifier: MIT */
#include "injector/remove.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "injector/modules.h"
#include "injector/park.h"
#include "injector/procfs.h"
#include "injector/session.h"
#include "injector/surgery.h"
#include "injector/text.h"

enum {
	ATTEMPTS = 40,
	STOP_BUDGET = 50 * 1000 * 1000,	/* ns */
	REST = 5 * 1000 * 1000,
	SCANS = 200,		/* for children that fork while we look */
};

/* The removal of one process. */
struct removing {
	struct target target;
	struct modules mods;
	struct old_session old;
	struct sigframes frames;
	struct change *changes;	/* from jumps to the original, holes last */
	size_t n, cap;
	bool own;		/* the process that was named: the journal's
				 * states are meant to be its own */
	struct removal *report;
};

static void complain(struct removal *r, const char *text)
{
	size_t n = strlen(r->left);

	snprintf(r->left + n, sizeof(r->left) - n, "%s%s", n ? "; " : "", text);
}

static struct module *module_of(struct removing *r, raddr_t addr)
{
	for (size_t i = 0; i < r->mods.n; i++)
		for (size_t j = 0; j < r->mods.v[i].nmaps; j++)
			if (range_has(r->mods.v[i].maps[j], addr))
				return &r->mods.v[i];
	return NULL;
}

/*
 * The journal lies in memory that the target can write, so it is not believed:
 * what is to be restored must be what the mapped file holds at that place.
 */
static bool is_original(struct removing *r, const struct slot *s)
{
	struct module *m = module_of(r, s->addr);
	size_t there;

	if (!m || module_symbols(m) < 0)
		return false;
	const uint8_t *file = symbols_text(m->symbols, s->addr - m->bias, &there);
	return file && there >= s->len && memcmp(file, s->old, s->len) == 0;
}

/* The writing order backwards: holes last, and a host after its hole. */
static int removal_order(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->hole != y->hole)
		return x->hole ? 1 : -1;
	return x->addr > y->addr ? -1 : x->addr < y->addr;
}

/* The journal is shared with forked children and says what was last done to
 * one of them; whether a jump stands in this process only its text says. */
static bool may_stand(const struct slot *s)
{
	return s->state == SLOT_PLANNED || s->state == SLOT_ACTIVE || s->state == SLOT_REMOVED;
}

static bool should_stand(const struct removing *r, const struct slot *s)
{
	return r->own && (s->state == SLOT_PLANNED || s->state == SLOT_ACTIVE);
}

/* The changes that undo the journal. Places that are mapped no more (a library
 * was unloaded) have nothing to restore. */
static int list_changes(struct removing *r)
{
	for (uint32_t i = 0; i < r->old.s.nslots; i++) {
		const struct slot *s = &r->old.slots[i];

		if (!may_stand(s) || !s->len || s->len > CHANGE_MAX || !module_of(r, s->addr))
			continue;
		struct change *c = vec_push(r->changes, r->n, r->cap);
		if (!c)
			return fail(ENOMEM, "read the journal");
		*c = (struct change){ .addr = s->addr, .len = s->len,
				      .slot = i, .hole = s->kind == SLOT_HOLE };
		memcpy(c->from, s->new_, sizeof(c->from));
		memcpy(c->to, s->old, sizeof(c->to));
	}
	qsort(r->changes, r->n, sizeof(*r->changes), removal_order);
	return 0;
}

/* Another file may be mapped there by now (a plugin was replaced): then what
 * stands there has nothing to do with us, if it is what that file holds. */
static bool equals_file(struct removing *r, const struct slot *s)
{
	struct module *m = module_of(r, s->addr);
	uint8_t now[CHANGE_MAX];
	size_t there;

	if (!m || module_symbols(m) < 0 || target_read(&r->target, s->addr, now, s->len) < 0)
		return false;
	const uint8_t *file = symbols_text(m->symbols, s->addr - m->bias, &there);
	return file && there >= s->len && memcmp(file, now, s->len) == 0;
}

static void complain_at(struct removing *r, raddr_t addr, const char *what)
{
	char line[160];

	snprintf(line, sizeof(line), "%d (%s): %s at %#lx", r->target.pid, r->target.comm,
		 what, (unsigned long)addr);
	complain(r->report, line);
}

/* Keep the changes whose jump really stands in this process's text. */
static int keep_standing(struct removing *r)
{
	auto_free uint8_t *is = malloc(r->n + 1);
	size_t kept = 0;

	if (!is)
		return fail(ENOMEM, "look at the text");
	int err = text_look(&r->target, r->changes, r->n, is);
	if (err)
		return err;
	for (size_t i = 0; i < r->n; i++) {
		const struct slot *s = &r->old.slots[r->changes[i].slot];

		if (is[i] == TEXT_FROM && is_original(r, s))
			r->changes[kept++] = r->changes[i];
		else if (is[i] == TEXT_FROM)
			complain_at(r, s->addr, "the journal does not agree with the file");
		else if (is[i] == TEXT_OTHER && should_stand(r, s) && !equals_file(r, s))
			complain_at(r, s->addr, "foreign bytes");
	}
	r->n = kept;
	fail_clear();
	return 0;
}

/* A PC at a hole goes to the stub; at the start of a window it may stay, and
 * inside one it cannot be. */
static int out_of_hole(void *ctx, raddr_t pc, raddr_t *to)
{
	const struct removing *r = ctx;

	for (size_t i = r->n; i-- > 0;) {
		const struct slot *s = &r->old.slots[r->changes[i].slot];

		if (s->kind != SLOT_HOLE)
			break;		/* holes are last */
		if (s->addr == pc)
			*to = s->stub;
	}
	return 0;
}

static int restore_text(struct removing *r)
{
	size_t done;
	raddr_t pc;
	int err = park(&r->target, &r->frames, out_of_hole, r, &pc);

	return err ? err : text_change(&r->target, r->changes, r->n, 0, &done);
}

static int attempt(struct removing *r)
{
	surgery_hurry(true);
	int err = target_stop(&r->target, STOP_BUDGET);
	err = err ? err : restore_text(r);
	target_release(&r->target);
	surgery_hurry(false);
	return err;
}

static void mark_removed(struct removing *r)
{
	for (uint32_t i = 0; i < r->old.s.nslots; i++)
		if (should_stand(r, &r->old.slots[i]))
			session_mark(&r->target, &r->old, i, SLOT_REMOVED);
	fail_clear();
}

static int restore(struct removing *r)
{
	int err = sigframes_prepare(&r->target, &r->frames);

	err = err ? err : text_touch(&r->target, r->changes, r->n);
	for (int i = 0; !err && i < ATTEMPTS; i++) {
		fail_clear();
		err = attempt(r);
		if (err != -EAGAIN && err != -EBUSY)
			break;
		target_settle(&r->target, REST);
		err = i + 1 < ATTEMPTS ? 0 : err;
	}
	if (err)
		return err;
	r->report->sites += r->n;
	r->report->processes++;
	return 0;
}

static int clean(void *ctx)
{
	struct removing *r = ctx;
	int err = modules_open_process(r->target.pid, &r->mods);

	err = err ? err : list_changes(r);
	err = err ? err : keep_standing(r);
	if (!err && r->n)
		err = restore(r);
	if (!err && !r->report->left[0])
		mark_removed(r);
	r->report->longest_pause = MAX(r->report->longest_pause, r->target.longest_pause);
	r->report->repaired += r->target.repaired;
	r->report->shortened += r->target.shortened;
	return err;
}

static void removing_clear(struct removing *r)
{
	modules_close(&r->mods);
	session_forget(&r->old);
	sigframes_clear(&r->frames);
	free(r->changes);
	target_close(&r->target);
}

/* One process. `ino` 0: whatever session is found, which is its own. */
static int remove_one(pid_t pid, ino_t *ino, struct removal *ret)
{
	struct removing r = { .report = ret, .own = *ino == 0 };
	int err = target_open(pid, &r.target);

	err = err ? err : session_find(&r.target, &r.old);
	if (!err && r.old.found && (!*ino || *ino == r.old.ino)) {
		ret->found = true;
		*ino = r.old.ino;
		err = surgery(clean, &r);
	}
	removing_clear(&r);
	return err;
}

struct inode_search {
	ino_t ino;
};

static int maps_session(void *ctx, const struct mapping *m)
{
	const struct inode_search *s = ctx;

	return m->ino == s->ino && strncmp(m->path, "/memfd:" SESSION_NAME, 21) == 0;
}

static bool shares_session(pid_t pid, ino_t ino)
{
	struct inode_search s = { ino };
	int found = procfs_maps(pid, maps_session, &s);

	if (found < 0)
		fail_clear();
	return found == 1;
}

/* Clean every other process that maps the session; how many had probes. */
static int scan_others(pid_t pid, ino_t ino, struct removal *ret)
{
	size_t before = ret->processes;
	struct dirent *e;
	DIR *d = opendir("/proc");

	if (!d)
		return fail(errno, "read /proc");
	while ((e = readdir(d))) {
		pid_t other = atoi(e->d_name);
		ino_t same = ino;

		if (other <= 0 || other == pid || other == getpid() ||
		    !shares_session(other, ino))
			continue;
		int err = remove_one(other, &same, ret);
		/* A child that ended meanwhile has taken its probes along. */
		if (err && err != -ESRCH && procfs_lives(other))
			complain(ret, fail_text());
		fail_clear();
	}
	closedir(d);
	return (int)(ret->processes - before);
}

int remove_from_others(pid_t pid, ino_t session, struct removal *ret)
{
	int n = 1;

	/* A child may fork while we look: until a scan finds no probes. */
	for (int i = 0; n > 0 && i < SCANS && !ret->left[0]; i++)
		n = scan_others(pid, session, ret);
	if (n < 0)
		return n;
	return ret->left[0] || n > 0 ? (fail(0, "%s", ret->left), -EIO) : 0;
}

int remove_probes(pid_t pid, struct removal *ret)
{
	ino_t ino = 0;
	int err = remove_one(pid, &ino, ret);

	if (err && err != -ESRCH && procfs_lives(pid))
		return err;
	int others = ino ? remove_from_others(pid, ino, ret) : 0;
	if (!err && ret->left[0])
		err = (fail(0, "%s", ret->left), -EIO);
	return err ? err : others;
}

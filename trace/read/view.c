/* SPDX-License-Identifier: MIT */
/* view: a part of a recording, as calls. */
#include "trace/read/view_impl.h"

#include <errno.h>
#include <string.h>

#include "trace/read/choose.h"

enum { DONE = 1 };		/* archive_read is to end */

#define TICK_NS 50000000ull	/* between two looks for long calls */

/* ---- functions ----------------------------------------------------------- */

static int view_choose(struct view *v)
{
	struct view_options *o = &v->options;
	size_t n = 0, excluded = 0;
	int err = 0;

	if (!o->ninclude && !o->nexclude)
		return 0;
	v->wanted = malloc(v->about->nfuncs + 1);
	if (!v->wanted)
		return fail(ENOMEM, "choose functions");
	memset(v->wanted, !o->ninclude, v->about->nfuncs + 1);
	for (size_t i = 0; i < o->ninclude && !err; i++)
		err = choose_names(v->about, &o->include[i], true, v->wanted, &n);
	if (!err && o->ninclude && !n) {
		fail(0, "no function of %s matches '%s'", o->path, o->include[0].glob);
		return -ENODATA;
	}
	for (size_t i = 0; i < o->nexclude && !err; i++)
		err = choose_names(v->about, &o->exclude[i], false, v->wanted,
				   &excluded);
	v->filter.funcs = v->wanted;
	return err;
}

/* They are chosen by whole names, and shown by short ones. */
static int rename_shortly(struct view *v)
{
	size_t n = v->about->nfuncs + 1;
	auto_free const char **names = calloc(n, sizeof(*names));

	v->funcs = calloc(n, sizeof(*v->funcs));
	if (!names || !v->funcs)
		return fail(ENOMEM, "shorten %zu names", n);
	for (size_t i = 0; i < n; i++)
		names[i] = v->about->funcs[i].name;
	int err = shorten_all(names, n, &v->names);

	for (size_t i = 0; i < n; i++) {
		v->funcs[i] = v->about->funcs[i];
		v->funcs[i].name = names[i];
	}
	v->renamed = *v->about;
	v->renamed.funcs = v->funcs;
	v->about = &v->renamed;
	return err;
}

/* What is to be known of the recording, with the groups that there are by now. */
static void take_groups(struct view *v)
{
	v->renamed.funcs = groups_funcs(v->groups, &v->renamed.nfuncs);
}

static int group_by(struct view *v)
{
	const struct view_options *o = &v->options;
	int err = o->nby ? groups_new(v->about, o->by, o->nby, o->ended, &v->groups) : 0;

	if (err || !v->groups)
		return err;
	v->renamed = *v->about;
	v->about = &v->renamed;
	take_groups(v);
	return 0;
}

/* ---- times --------------------------------------------------------------- */

static uint64_t ticks_of(const struct view *v, uint64_t ns)
{
	const struct clock *c = &v->about->clock;
	unsigned __int128 ticks = (unsigned __int128)ns * c->run_ticks / c->run_ns;

	return ticks < UINT64_MAX - v->begin ? (uint64_t)ticks : UINT64_MAX - v->begin;
}

static void set_times(struct view *v)
{
	struct archive_sizes z;

	archive_sizes(v->archive, &z);
	v->begin = v->about->begin ?: z.begin;
	if (v->about->slow.begin)
		v->begin = MIN(v->begin, v->about->slow.begin);
	v->end = MAX(v->about->end, z.end);
	if (v->options.until)
		v->end = MIN(v->end, v->begin + ticks_of(v, v->options.until));
	v->begin += ticks_of(v, v->options.since);
	v->end = MAX(v->begin, v->end);
	v->filter.since = v->options.since ? v->begin : 0;
	v->filter.until = v->options.until ? v->end : 0;
}

static int subtract(struct view *v)
{
	if (!v->options.net)
		return 0;
	v->options.frames.cost = v->about->cost;
	return cost_is_known(&v->about->cost) ? 0 :
		fail(0, "%s does not tell what recording has cost", v->options.path);
}

int view_open(const struct view_options *o, struct view **ret)
{
	struct view *v = calloc(1, sizeof(*v));
	int err;

	if (!v)
		return fail(ENOMEM, "read %s", o->path);
	v->options = *o;
	err = archive_open(o->path, o->note, o->ctx, &v->archive);
	if (!err) {
		v->about = archive_about(v->archive);
		v->callers = (struct caller_table){ v->about->callers, v->about->ncallers };
		v->caller_names = (struct caller_names){ caller_table_find, &v->callers };
		set_times(v);
		v->tick = ticks_of(v, TICK_NS);
		err = view_choose(v) ?: subtract(v);
		if (!err && o->short_names)
			err = rename_shortly(v);
		err = err ? err : view_make_callers(v) ?: group_by(v);
	}
	if (err) {
		view_close(v);
		return err;
	}
	*ret = v;
	return 0;
}

void view_close(struct view *v)
{
	if (!v)
		return;
	frames_free(v->frames);
	earlier_free(v->earlier);
	archive_close(v->archive);
	groups_free(v->groups);
	strings_clear(&v->names);
	free(v->funcs);
	free(v->caller_funcs);
	free(v->caller_at);
	free(v->wanted);
	free(v);
}

struct archive *view_archive(const struct view *v)
{
	return v->archive;
}

const struct about *view_about(const struct view *v)
{
	return v->about;
}

size_t view_room(const struct view *v)
{
	return v->groups ? groups_room(v->groups) : v->about->nfuncs + 1;
}

const struct group *view_group(const struct view *v, const struct reader_func *f)
{
	return v->groups ? groups_at(v->groups, f) : NULL;
}

size_t view_by(const struct view *v, const char *const **ret)
{
	*ret = v->options.by;
	return v->options.nby;
}

bool view_groups_full(const struct view *v)
{
	return v->groups && groups_full(v->groups);
}

const struct caller_names *view_names(const struct view *v)
{
	return &v->caller_names;
}

uint64_t view_begin(const struct view *v)
{
	return v->begin;
}

uint64_t view_end(const struct view *v)
{
	return v->end;
}

/* ---- events -------------------------------------------------------------- */

static void view_count(struct view *v, const struct event *e)
{
	struct view_counts *c = &v->counts;

	c->calls += e->kind == EVENT_ENTRY || e->kind == EVENT_MARK;
	c->events += e->kind == EVENT_ENTRY || e->kind == EVENT_EXIT || e->kind == EVENT_MARK ||
		     e->kind == EVENT_BEFORE;
	c->lost += e->kind == EVENT_LOST ? e->lost : 0;
}

/* One of a function that is not known: where callers are functions, its place is behind them. */
static struct event known_event(const struct view *v, const struct event *e)
{
	struct event ret = *e;

	if (v->caller_funcs && e->func == v->unknown)
		ret.func = v->unknown_at;
	return ret;
}

static int view_event(void *ctx, const struct event *e)
{
	struct view *v = ctx;
	const struct event known = known_event(v, e);
	int err;

	e = &known;
	if (!frames_full(v->frames))
		view_count(v, e);
	if (e->tsc >= v->next_tick) {
		frames_tick(v->frames, e->tsc);
		v->next_tick = e->tsc + v->tick;
	}
	err = frames_event(v->frames, e);
	if (!err && v->out)
		err = output_flush(v->out);
	return err ? err : frames_done(v->frames) ? DONE : 0;
}

/* ---- what began before --------------------------------------------------- */

bool view_is_part(const struct view *v)
{
	return v->options.since;
}

/* Are all begins there that were recorded? Then it is known how many calls end without one. */
static bool has_all(const struct view *v)
{
	return !view_is_part(v) && !v->about->rotated;
}

/* Does the call for which the snapshot was taken end here? Its own end comes first. */
static bool ends_slow(const struct view *v, const struct event *e)
{
	const struct about_slow *slow = &v->about->slow;

	return slow->begin && !v->slow_ended && slow->begin >= v->begin && e->tsc >= slow->end &&
	       e->func == slow->func && (uint32_t)e->tid == slow->tid &&
	       (e->kind == EVENT_EXIT || e->kind == EVENT_BEFORE);
}

static int view_look(void *ctx, const struct event *e)
{
	struct view *v = ctx;
	bool slow = ends_slow(v, e);
	const struct event known = known_event(v, e);
	int err;

	v->slow = slow ? v->about->slow.begin : 0;
	v->slow_ended |= slow;
	v->nbefore += e->kind == EVENT_BEFORE;
	err = e->kind == EVENT_STACK_END ? earlier_note(v->earlier, e, 0, 0) : 0;
	err = err ? err : frames_event(v->frames, &known) ?: v->err;
	return err ? err : has_all(v) && v->nbefore == v->about->nbefore ? DONE : 0;
}

/* Of a function that was probed later it is not known to have been open from the begin on. */
static void view_found(void *ctx, const struct event *e, uint64_t first_event)
{
	struct view *v = ctx;
	uint64_t first = v->about->first_funcs;

	if (!first || e->func < first)
		v->err = earlier_note(v->earlier, e, v->slow, first_event);
}

static bool found_open(void *ctx, const struct call *c)
{
	return false;
}

static void found_end(void *ctx, const struct call *c)
{
}

static void found_lost(void *ctx, const struct event *e)
{
}

/* Look through the record for calls whose begins are not there, if there are any. */
static int find_earlier(struct view *v)
{
	const struct sink sink = { .open = found_open, .end = found_end, .lost = found_lost,
				   .before = view_found, .ctx = v };
	const struct frames_options all = { 0 };
	int err;

	if (has_all(v) && v->about->end && !v->about->nbefore)
		return 0;
	err = earlier_new(&v->earlier);
	err = err ? err : frames_new(&v->about->clock, v->begin, v->about->funcs, &all, &sink,
				     &v->frames);
	err = err ? err : archive_read(v->archive, &v->filter, true, view_look, v);
	frames_free(v->frames);
	v->frames = NULL;
	if (v->earlier)
		earlier_sort(v->earlier);
	return MIN(err, 0);
}

/* ---- run ----------------------------------------------------------------- */

static struct call grouped(struct view *v, const struct call *c)
{
	struct call ret = *c;

	ret.func = groups_of(v->groups, c);
	take_groups(v);
	return ret;
}

static uint64_t grouped_begin(void *ctx, uint64_t outer, const struct call *c)
{
	struct view *v = ctx;
	const struct call call = grouped(v, c);

	return v->sink.begin(v->sink.ctx, outer, &call);
}

static bool grouped_open(void *ctx, const struct call *c)
{
	struct view *v = ctx;
	const struct call call = grouped(v, c);

	return v->sink.open(v->sink.ctx, &call);
}

static void grouped_end(void *ctx, const struct call *c)
{
	struct view *v = ctx;
	const struct call call = grouped(v, c);

	v->sink.end(v->sink.ctx, &call);
}

static void grouped_lost(void *ctx, const struct event *e)
{
	struct view *v = ctx;

	v->sink.lost(v->sink.ctx, e);
}

/* The sink that calls are given to before they come to v->sink. */
static struct sink grouping(struct view *v, const struct sink *to)
{
	v->sink = *to;
	return (struct sink){ .begin = to->begin ? grouped_begin : NULL, .open = grouped_open,
			      .end = grouped_end, .lost = grouped_lost, .ctx = v };
}

int view_run(struct view *v, const struct sink *to, struct output *out)
{
	const struct about *a = archive_about(v->archive);
	const struct sink sink = v->groups ? grouping(v, to) : *to;
	int err = find_earlier(v);

	v->out = out;
	v->options.frames.pid = a->pid;
	err = err ? err : frames_new(&a->clock, v->begin, v->funcs ? v->funcs : a->funcs,
				     &v->options.frames, &sink, &v->frames);
	if (!err && v->earlier)
		err = frames_earlier(v->frames, v->earlier, !a->kept && !a->rotated);
	err = err ? err : archive_read(v->archive, &v->filter, false, view_event, v);
	if (err < 0)
		return err;
	frames_finish(v->frames, v->end);
	return v->groups ? groups_check(v->groups) : 0;
}

int view_events(struct view *v, int (*each_event)(void *ctx, const struct event *), void *ctx)
{
	return archive_read(v->archive, &v->filter, false, each_event, ctx);
}

int32_t view_tid(const struct view *v)
{
	return v->options.frames.tid;
}

void view_counts(const struct view *v, struct view_counts *ret)
{
	*ret = v->counts;
}

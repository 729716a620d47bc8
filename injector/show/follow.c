/* SPDX-License-Identifier: MIT */
/* follow: from "the probes are in" to "take them out". */
#include "injector/show/follow_impl.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "injector/log/clock.h"
#include "injector/log/say.h"
#include "injector/proc/children.h"
#include "injector/proc/signals.h"

#define MS 1000000ull

enum {
	EVENTS_AT_ONCE = 1 << 16,	/* between two looks at the world, */
	BACKLOG = 1 << 22,		/* bytes that wait: no more is read */
};

#define TIME_AT_ONCE (20 * MS)	/* and for so long */
#define INTERVAL_FIRST (5 * MS)
#define INTERVAL_LEAST (1 * MS)
#define INTERVAL_MOST (10 * MS)	/* so much later a thread is seen to have ended */
#define TICK (50 * MS)		/* between two looks for long calls */
#define ASK (1000 * MS)
#define ASK_OFTEN (10 * MS)	/* what a new program does meanwhile is not seen; and so
				 * much later its calls are taken to have ended */
#define FLUSH (1000 * MS)	/* what is recorded is kept in memory no longer */
#define HINT_AFTER (5000 * MS)

/* Read for the counts only. */
static int count_only(void *ctx, const struct event *e)
{
	return 0;
}

static int watch_and_show(void *ctx, const struct event *e)
{
	struct follow *f = ctx;
	int err = f->seen ? f->seen(f->ctx, e) : 0;

	if (!err && f->counts)
		counts_event(f->counts, e);
	return err ? err : f->record ? record_event(f->record, e) : frames_event(f->frames, e);
}

static int64_t drain(struct follow *f, bool last)
{
	reader_limit(f->reader, EVENTS_AT_ONCE, TIME_AT_ONCE);
	if (f->mute || (f->counts && !f->frames))
		return reader_drain(f->reader, last, count_only, NULL);
	if (f->seen || f->counts)
		return reader_drain(f->reader, last, watch_and_show, f);
	if (f->record)
		return reader_drain(f->reader, last, record_event, f->record);
	return reader_drain(f->reader, last, frames_event, f->frames);
}

/* Often while rings fill up, seldom while little happens; never all the time. */
static void pace(struct follow *f, uint64_t now)
{
	unsigned fill = reader_fill(f->reader);

	if (fill > 25)
		f->interval /= 4;
	else if (fill > 10)
		f->interval /= 2;
	else if (fill < 5)
		f->interval += f->interval / 4;
	f->interval = MAX(f->interval, INTERVAL_LEAST);
	f->interval = MIN(f->interval, INTERVAL_MOST);
	f->next_drain = reader_is_cut(f->reader) ? now : now + f->interval;
}

static void stop(struct follow *f, enum follow_why why)
{
	if (f->why == FOLLOW_ON)
		f->why = why;
}

static void broken(struct follow *f, int err)
{
	f->mute = true;
	if (err != -EPIPE)
		f->err = err;
	stop(f, err == -EPIPE ? FOLLOW_CLOSED : FOLLOW_FAILED);
}

/* Bytes that wait for a reader of the results. */
static size_t waiting(const struct follow *f)
{
	return f->out ? output_pending(f->out) : 0;
}

/* What is the state of the results? Now and then. */
static int care(struct follow *f, uint64_t now)
{
	if (f->frames)
		frames_tick(f->frames, reader_reached(f->reader));
	if (!f->record || now < f->next_flush)
		return 0;
	f->next_flush = now + FLUSH;
	f->description->about.clock = *reader_clock(f->reader);
	return record_flush(f->record, &f->description->about);
}

static void follow_turn(struct follow *f, uint64_t now)
{
	int err = 0;

	/* If results are not taken we read no more; then the rings
	 * drop, and count. A terminal is shown less instead. */
	if (now >= f->next_drain && waiting(f) < BACKLOG) {
		int64_t n = drain(f, false);

		if (n < 0)
			broken(f, (int)n);
		pace(f, clock_monotonic());
	}
	if (now >= f->next_tick) {
		f->next_tick = now + TICK;
		err = care(f, now);
		if (f->top)
			top_tick(f->top, now);
		if (f->tick)
			f->tick(f->ctx);
	}
	if (!err && f->out)
		err = output_write(f->out);
	if (err)
		broken(f, err);
}

bool follow_ended(const struct follow *f)
{
	struct pollfd p = { .fd = f->pidfd, .events = POLLIN };

	if (f->pidfd >= 0)
		return poll(&p, 1, 0) > 0;
	return kill(f->pid, 0) < 0 && errno == ESRCH;
}

static bool has_left(struct follow *f, uint64_t now)
{
	if (!f->left || now < f->next_ask)
		return false;
	f->next_ask = now + ASK_OFTEN;
	return f->left(f->ctx);
}

/* Is there no process any more whose calls could come? */
static bool is_gone(struct follow *f, uint64_t now)
{
	if (!f->orphaned && !follow_ended(f) && !has_left(f, now))
		return false;
	reader_target_gone(f->reader);
	if (f->orphaned && now < f->next_ask)
		return false;
	f->next_ask = now + ASK;
	f->orphaned = f->others && f->others(f->ctx);
	return !f->orphaned;
}

/* As many calls as -n wants. */
static bool has_enough(const struct follow *f)
{
	uint64_t calls = f->options->calls;

	if (!calls)
		return false;
	if (f->counts)
		return counts_calls(f->counts) >= calls;
	return f->record ? record_calls(f->record) >= calls :
		f->spans ? spans_full(f->spans) :
		f->within ? within_full(f->within) : frames_full(f->frames);
}

static void look_for_reasons(struct follow *f, uint64_t now)
{
	if (signals_stop_wanted() || (f->top && top_typed(f->top)))
		stop(f, FOLLOW_SIGNAL);
	if (is_gone(f, now))
		stop(f, FOLLOW_GONE);
	if (has_enough(f))
		stop(f, FOLLOW_CALLS);
	if (f->record && record_full(f->record))
		stop(f, FOLLOW_FULL);
	if (f->options->duration && now - f->since >= f->options->duration)
		stop(f, FOLLOW_DURATION);
}

static void hint(struct follow *f, uint64_t now)
{
	struct reader_stats stats;
	char children[128];

	if (f->hinted || now - f->began < HINT_AFTER)
		return;
	f->hinted = true;
	reader_stats(f->reader, &stats);
	if (stats.calls || stats.lost || (f->counts && counts_calls(f->counts)))
		return;
	if (children_list(f->pid, children, sizeof(children)))
		say_hint("no call within 5 s; %d has children, and it may be one of them that "
			 "works: %s; give one as -p, or --follow-fork for those to come",
			 f->pid, children);
	else if (f->unnamed)
		say_hint("no call within 5 s; %s is stripped and has no unwind entries, so that "
			 "hardly any of its functions are known", f->unnamed);
	else
		say_hint("no call within 5 s; the functions may not be in use "
			 "(inject list -p %d names others)",
			 f->pid);
}

static uint64_t next_event(const struct follow *f)
{
	uint64_t next = f->next_tick, end = f->since + f->options->duration;

	if (waiting(f) < BACKLOG)
		next = MIN(next, f->next_drain);
	return f->options->duration ? MIN(next, end) : next;
}

static void wait_for_something(struct follow *f)
{
	struct pollfd p[] = {
		{ .fd = signals_fd(), .events = POLLIN },
		{ .fd = f->orphaned ? -1 : f->pidfd, .events = POLLIN },
		{ .fd = waiting(f) ? output_fd(f->out) : -1,
		  .events = POLLOUT },
		{ .fd = f->top ? top_fd(f->top) : -1, .events = POLLIN },
	};
	uint64_t now = clock_monotonic(), next = next_event(f);
	struct timespec ts = { 0 };

	if (next > now) {
		ts.tv_sec = (time_t)((next - now) / 1000000000);
		ts.tv_nsec = (long)((next - now) % 1000000000);
	}
	ppoll(p, ARRAY_SIZE(p), &ts, NULL);
}

int follow(struct follow *f)
{
	f->began = clock_monotonic();
	f->since = f->since ? f->since : f->began;
	f->interval = INTERVAL_FIRST;
	f->next_drain = f->next_tick = f->next_ask = f->began;
	f->why = FOLLOW_ON;
	for (;;) {
		uint64_t now = clock_monotonic();

		look_for_reasons(f, now);
		if (f->why != FOLLOW_ON)
			return f->err;
		follow_turn(f, now);
		hint(f, now);
		if (f->top && signals_pause_wanted())
			top_release(f->top);
		signals_pause();
		if (f->why == FOLLOW_ON)
			wait_for_something(f);
	}
}

/* Files and pipes are waited for; a terminal at which Ctrl-C was typed
 * is shown what it takes at once, and how much more there was. */
static int write_rest(struct follow *f)
{
	if (!f->out)
		return 0;
	if (output_is_terminal(f->out))
		return output_write(f->out);
	return output_finish(f->out, signals_drop_wanted);
}

/* Show what is in the rings, or at least count it. */
static void drain_rest(struct follow *f)
{
	int64_t n;

	do {
		int err;

		n = drain(f, true);
		if (n < 0 && f->mute)
			return;
		if (n < 0) {
			broken(f, (int)n);
			continue;
		}
		if (signals_drop_wanted())
			f->mute = true;
		err = f->mute ? 0 : write_rest(f);
		if (err)
			broken(f, err);
	} while (n);
}

/* What is told of threads without a processor, up to the end of all. */
static void settle(struct follow *f)
{
	int err;

	if (f->mute || (!f->record && !f->frames))
		return;
	err = reader_settle(f->reader, f->ended, watch_and_show, f);
	if (err)
		broken(f, err);
}

/* The directory is whole, and says so. */
static void end_record(struct follow *f, const struct summary *s)
{
	struct about *a = &f->description->about;
	bool usual = !strcmp(f->directory, DEFAULT_DIRECTORY);
	int err;

	a->clock = *reader_clock(f->reader);
	a->end = f->ended;
	a->probed = s->functions;
	a->refused = s->refused;
	a->pause_ns = s->pause_ns;
	a->lost = s->lost;
	a->disarmed = s->disarmed;
	a->gone = s->gone != NULL;
	a->removed = s->removed;
	a->verified = s->verified;
	err = record_end(f->record, a);
	if (err)
		broken(f, err);
	uint64_t left = record_left_free(f->record);

	if (left)
		say("%s ends here: its disk has only %.1f MiB left (--min-free)", f->directory,
		    (double)left / (1 << 20));
	else if (f->why == FOLLOW_FULL)
		say_hint("%s has reached the size of --max-size", f->directory);
	say_hint("%.1f MiB in %s; inject replay%s%s shows the calls",
		 (double)record_size(f->record) / (1 << 20), f->directory,
		 usual ? "" : " ", usual ? "" : f->directory);
}

/* Of processes that execute other programs there may be many tables. */
static void print_process(struct follow *f)
{
	char exe[PATH_MAX];

	output_printf(f->out, "# process %d, %s\n", f->pid,
		      f->exe ? say_clean(f->exe, exe, sizeof(exe)) : "(unknown)");
}

static void print_counts(struct follow *f)
{
	counts_take(f->counts);
	if (f->options->follow_exec && !f->options->json)
		print_process(f);
	if (f->options->verb == VERB_HIST)
		hist_print(f->counts, f->out);
	else if (f->options->verb == VERB_TOP)
		top_print(f->counts, f->out);
	else
		count_print(f->counts, f->out);
}

static void print_end(struct follow *f, const struct summary *s)
{
	int err = 0;

	if (f->top)
		top_clear(f->top);
	if (f->counts)
		print_counts(f);
	else
		frames_finish(f->frames, f->ended);
	if (f->spans)
		spans_finish(f->spans, f->ended);
	if (f->graph)
		graph_end(f->graph);
	if (f->hist)
		err = hist_values_print(f->hist, f->out);
	if (f->options->json)
		summary_json(f->out, s, f->pid, follow_wall(f));
	err = err ? err : output_finish(f->out, signals_drop_wanted);
	if (err)
		broken(f, err);
}

int follow_finish(struct follow *f, struct summary *s)
{
	struct reader_stats stats;

	/* The probes are out: a call that is open was seen up to now, however long it takes to
	 * read what is left. */
	f->ended = reader_now();
	if (s->gone)
		reader_target_gone(f->reader);
	drain_rest(f);
	settle(f);
	reader_stats(f->reader, &stats);
	if (f->drained)
		f->drained(f->ctx, s);
	s->calls = f->counts ? counts_calls(f->counts) : stats.calls;
	s->events = stats.events;
	s->lost = stats.lost;
	if (f->record)
		end_record(f, s);
	else if (!f->mute)
		print_end(f, s);
	if (stats.damaged && f->options->verbose)
		say("%llu words of the rings made no sense",
		    (unsigned long long)stats.damaged);
	return f->err;
}

/* SPDX-License-Identifier: MIT */
/*
 * infect, continued: 4f, the pages of islands. There may be thousands, and each lone one
 * takes a system call of the target. So code of ours makes them in one go, in loans that
 * end by themselves, and nothing is lost if it or we die:
 *
 *  1. The pages stand in the session's list as wanted, then they are counted in.
 *  2. A borrowed thread runs the loader's code (payload/loader.c), which maps one after
 *     the other and writes down of each that it is mapped. It does so to the end of its
 *     turn also when we are dead.
 *  3. It waits to be fetched. If it is not, it goes home by the frame that was made
 *     for this (remote_work).
 *  4. It rests, and goes on as in 2. with the next ones.
 *  5. A page is an island's if the list says that it is mapped, and /proc that there is
 *     memory as ours is.
 *
 * A later visit does the same as 5. with what it finds in the list (pages.c). What was
 * wanted and is not mapped is not taken for ours.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "arch/clock.h"
#include "injector/infect/infect_impl.h"
#include "injector/islands/pages.h"
#include "injector/proc/procfs.h"

enum {
	PAGES = 1024,		/* of one loan: two milliseconds, as a rule */
	TIME = 4 * 1000 * 1000,	/* ns, after which it ends anyhow */
	LINGER = 20 * 1000 * 1000,	/* ns until a thread that is not fetched goes home */
	IDLE_MOST = 3,		/* loans for nothing: the list is not what we wrote */
};

static raddr_t loan_at(const struct infecting *in)
{
	return in->result->base + LOADER_OFF + offsetof(struct loader, loan);
}

bool infect_has_loader(const struct target *t, raddr_t scratch)
{
	size_t size = (size_t)(blob_loader_end - blob_loader);
	uint8_t now[SCRATCH_CODE];
	bool same = size <= sizeof(now) && target_read(t, scratch, now, size) == 0 &&
		memcmp(now, blob_loader, size) == 0;

	fail_clear();
	return same;
}

/* Ticks of the counter in so many ns. */
static uint64_t ticks_of(uint64_t ns)
{
	uint64_t time = now_ns(), ticks = arch_ticks();

	nanosleep(&(struct timespec){ 0, 1000 * 1000 }, NULL);
	ticks = arch_ticks() - ticks;
	time = now_ns() - time;
	return time ? (uint64_t)((double)ticks / (double)time * (double)ns) : 0;
}

void infect_begin_islands(struct infecting *in)
{
	in->target->stacks = (struct stacks){ 0 };
	in->islands.n = in->opt->islands->n;
	in->islands.turn = (uint32_t)now_ns();
	in->islands.ticks = in->islands.n ? ticks_of(TIME) : 0;
}

/* The head of the session, in the target and in our copy. */
static int count_in(struct infecting *in, uint32_t n)
{
	in->result->map.s->nislands = n;
	return target_write(in->target, in->result->base + offsetof(struct session, nislands),
			    &n, sizeof(n));
}

/* 1. There is room for as many as were chosen, unless the count is not ours. */
static int announce(struct infecting *in)
{
	const struct island_page *pages = in->opt->islands->pages;
	uint32_t first = MIN(in->result->map.s->nislands, (uint32_t)ISLANDS_MOST);
	size_t n = MIN(in->islands.n, (size_t)(ISLANDS_MOST - first));
	raddr_t list = in->result->base + ISLANDS_OFF + first * sizeof(uint64_t);

	if (!infect_has_loader(in->target, in->scratch))
		return fail(EBADMSG, "the session in %d (%s) is damaged", in->target->pid,
			    in->target->comm);
	auto_free uint64_t *words = calloc(n + 1, sizeof(*words));
	if (!words)
		return fail(ENOMEM, "list the islands");
	for (size_t i = 0; i < n; i++)
		words[i] = pages[i].at | ISLAND_WANTED;
	int err = target_write(in->target, list, words, n * sizeof(*words));

	err = err ? err : count_in(in, first + (uint32_t)n);
	in->islands.n = n;
	in->islands.list = list;
	return err;
}

/* How many from the first on are settled? */
static size_t settled(const struct infecting *in, size_t n)
{
	uint64_t words[PAGES];
	size_t i = 0;

	if (target_read(in->target, in->islands.list + in->islands.laid * sizeof(*words), words,
			n * sizeof(*words)) < 0)
		fail_clear();
	else
		while (i < n && words[i] % PAGE != ISLAND_WANTED &&
		       words[i] % PAGE != ISLAND_UNWANTED)
			i++;
	return i;
}

/* 2. and 3. *refused: why the first that is left could not be mapped, nor could others. */
static int lay_some(struct infecting *in, size_t n, int32_t *refused)
{
	raddr_t at = loan_at(in);
	struct loan loan = {
		.list = in->islands.list + in->islands.laid * sizeof(uint64_t),
		.n = (uint32_t)n, .turn = ++in->islands.turn, .ticks = in->islands.ticks,
		/* A program that has not begun is not to begin by itself. */
		.linger = in->target->kept ? UINT64_MAX : LINGER, .done = ~in->islands.turn,
	};
	struct remote_job job = {
		.fn = in->scratch,
		.args = { in->result->base + LOADER_OFF,
			  (uint64_t)loan.turn << 32 | LOADER_ISLANDS },
		.code = { in->scratch, in->scratch + (raddr_t)(blob_loader_end - blob_loader) },
		.done = at + offsetof(struct loan, done), .turn = loan.turn,
		.turn_at = at + offsetof(struct loan, turn),
	};
	int err = target_write(in->target, at, &loan, sizeof(loan));

	err = err ? err : remote_work(&in->remote, &job);
	return err ? err : target_read(in->target, at + offsetof(struct loan, error), refused,
				       sizeof(*refused));
}

int infect_islands(struct infecting *in)
{
	int err = in->islands.n && !in->islands.list ? announce(in) : 0;
	size_t n = MIN(in->islands.n - in->islands.laid, (size_t)PAGES), done;
	int32_t refused = 0;

	if (err || !n)
		return err;
	err = lay_some(in, n, &refused);
	done = err ? 0 : settled(in, n);
	in->islands.laid += done;
	in->islands.idle = done ? 0 : in->islands.idle + 1;
	/* What was to land on the others is given up (islands_check): that is no reason not
	 * to attach. */
	if (refused || in->islands.idle == IDLE_MOST)
		in->islands.laid = in->islands.n;
	return err;
}

bool infect_islands_left(const struct infecting *in)
{
	return in->islands.laid < in->islands.n;
}

struct seen {
	struct island_page *pages;
	const uint64_t *words;
	size_t n;
};

static int see(void *ctx, const struct mapping *m)
{
	struct seen *s = ctx;
	size_t i = vec_prefix(s->n, k, s->pages[k].at < m->range.start);

	for (; i < s->n && s->pages[i].at < m->range.end; i++)
		s->pages[i].mapped = pages_like_ours(m) &&
			s->words[i] == (s->pages[i].at | ISLAND_MAPPED);
	return 0;
}

/* 5. */
int infect_see_islands(struct infecting *in)
{
	size_t n = in->islands.list ? in->islands.n : 0;
	auto_free uint64_t *words = calloc(n + 1, sizeof(*words));
	struct seen s = { in->opt->islands->pages, words, n };

	if (!words)
		return fail(ENOMEM, "list the islands");
	int err = n ? target_read(in->target, in->islands.list, words, n * sizeof(*words)) : 0;

	if (!err && n)
		err = procfs_maps(in->target->pid, see, &s);
	return MIN(err, 0);
}

/* As far as we know which are mapped; the others were never begun with. */
void infect_undo_islands(struct infecting *in)
{
	auto_free uint64_t *words = calloc(in->islands.n + 1, sizeof(*words));
	size_t size = in->islands.n * sizeof(*words);

	in->islands.laid = in->islands.idle = 0;
	in->islands.ready = false;
	if (!words || !in->islands.list ||
	    target_read(in->target, in->islands.list, words, size) < 0)
		in->islands.n = 0;
	for (size_t i = 0; i < in->islands.n; i++)
		words[i] = in->opt->islands->pages[i].at |
			(words[i] % PAGE == ISLAND_MAPPED ? ISLAND_UNWANTED : ISLAND_NONE);
	if (in->islands.n && target_write(in->target, in->islands.list, words, size) < 0)
		in->islands.n = 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Several threads plan together. Is what they plan the same as what one does; are parts joined
 * in order, and no more of them there at a time than may be; and does the first that fails end
 * the work, with its own message?
 */
#include "plan/text/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "tests/unit/check.h"

/* ---- the crew itself ------------------------------------------------------- */

enum { PARTS = 300, AHEAD = 7, FAILS = 123 };

struct job {
	int made[PARTS], dropped[PARTS];
	size_t joined;		/* so many parts, each in its turn */
	size_t fails;		/* this part and some behind it; PARTS: none */
	int unjoined;		/* parts that were begun and are not joined */
	bool too_many;
};

static void begin(struct plan_impl *own)
{
	crew_empty(own, places);
}

static int work(struct plan_impl *own, size_t part, void *ctx)
{
	struct job *j = ctx;
	int now = __atomic_add_fetch(&j->unjoined, 1, __ATOMIC_RELAXED);

	if (now > AHEAD)
		__atomic_store_n(&j->too_many, true, __ATOMIC_RELAXED);
	__atomic_add_fetch(&j->made[part], 1, __ATOMIC_RELAXED);
	for (size_t i = 0; i < part % 5; i++) {
		raddr_t *new = vec_push(own->places, own->nplaces, own->places_cap);

		*new = part * 10 + i;
		sched_yield();
	}
	/* Later ones fail sooner. */
	if (part >= j->fails && part < j->fails + AHEAD) {
		usleep((useconds_t)(1000 * (j->fails + AHEAD - part)));
		return fail(EPROTO, "part %zu", part);
	}
	return 0;
}

static int join(struct plan_impl *p, struct plan_impl *own, size_t part, void *ctx)
{
	struct job *j = ctx;

	CHECK_EQ(part, j->joined);
	j->joined++;
	__atomic_sub_fetch(&j->unjoined, 1, __ATOMIC_RELAXED);
	return crew_append(p, own, places);
}

static void drop(struct plan_impl *own, size_t part, void *ctx)
{
	((struct job *)ctx)->dropped[part]++;
	free(own->places);
}

static void test_crew(unsigned int threads, size_t fails)
{
	struct symbols syms = { .base = "nothing" };
	struct plan_impl p = { .symbols = &syms, .threads = threads };
	struct job j = { .fails = fails };
	const struct crew_work w = { begin, work, join, drop, &j, AHEAD };
	int err = crew_run(&p, &w, PARTS);
	size_t n = 0;

	CHECK_EQ(err, fails < PARTS ? -EPROTO : 0);
	CHECK_EQ(j.joined, fails);
	CHECK(!j.too_many);
	if (err) {
		CHECK(!strncmp(fail_text(), "part 123", 8));
		fail_clear();
	}
	for (size_t part = 0; part < PARTS; part++) {
		CHECK_EQ(j.made[part], j.dropped[part]);
		CHECK(j.made[part] == 1 || (part > fails && j.made[part] == 0));
		for (size_t i = 0; i < part % 5 && part < fails; i++, n++)
			CHECK(n < p.nplaces && p.places[n] == part * 10 + i);
	}
	CHECK_EQ(n, p.nplaces);
	free(p.places);
}

/* ---- what it plans --------------------------------------------------------- */

static const struct plan *plan_all(const struct symbols *s, unsigned int threads)
{
	const struct func **all = calloc(s->nfuncs + 1, sizeof(*all));
	struct plan_options o = { .hosts = true, .puns = true, .traps = true,
				  .threads = threads };
	const struct plan *ret = NULL;

	for (size_t i = 0; all && i < s->nfuncs; i++)
		all[i] = &s->funcs[i];
	if (!all || plan_make(arch_by_machine(s->machine), s, all, s->nfuncs, &o, &ret))
		printf("no plan: %s\n", fail_text());
	free(all);
	return ret;
}

static bool is_same_site(const struct site *x, const struct site *y)
{
	return x->pc == y->pc && x->window == y->window && x->dead == y->dead &&
		x->tactic == y->tactic && x->entry == y->entry && x->check == y->check &&
		x->leaves == y->leaves && x->host == y->host && x->level == y->level &&
		x->nexits == y->nexits && x->exits == y->exits && x->kept == y->kept &&
		x->stub_most == y->stub_most && x->hole.pc == y->hole.pc &&
		x->jump.pc == y->jump.pc;
}

static bool is_same_probe(const struct probe *x, const struct probe *y)
{
	bool same = x->func == y->func && x->refusal == y->refusal &&
		x->entry_only == y->entry_only && x->nsites == y->nsites &&
		x->nexits == y->nexits && x->linked == y->linked;

	for (size_t i = 0; same && i < x->nsites; i++)
		same = is_same_site(&x->sites[i], &y->sites[i]);
	return same;
}

static void compare(const struct plan *x, const struct plan *y)
{
	CHECK_EQ(x->nprobes, y->nprobes);
	CHECK_EQ(x->ndoubts, y->ndoubts);
	for (size_t i = 0; i < x->ndoubts && i < y->ndoubts; i++)
		CHECK_EQ(x->doubts[i].pc, y->doubts[i].pc);
	for (size_t i = 0; i < x->nprobes && i < y->nprobes; i++) {
		CHECK(is_same_probe(&x->probes[i], &y->probes[i]));
		if (failures) {
			printf("%s is planned otherwise\n", x->probes[i].func->name);
			return;
		}
	}
}

static void test_plan(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct symbols *s = NULL;

	if (fd < 0 || symbols_open(fd, path, &s)) {
		printf("%s cannot be read: %s\n", path, fail_text());
		failures++;
		return;
	}
	const struct plan *one = plan_all(s, 1);

	for (unsigned int threads = 2; threads <= 8; threads += 3) {
		const struct plan *several = plan_all(s, threads);

		CHECK(one && several);
		if (one && several)
			compare(one, several);
		plan_free(several);
	}
	plan_free(one);
	symbols_close(s);
	close(fd);
}

int main(void)
{
	for (unsigned int threads = 1; threads <= 8; threads++) {
		test_crew(threads, PARTS);
		test_crew(threads, FAILS);
	}
	test_plan("/proc/self/exe");
	test_plan("/lib/" MULTIARCH "/libc.so.6");
	test_plan("/usr/lib/" MULTIARCH "/libstdc++.so.6");
	return failures != 0;
}

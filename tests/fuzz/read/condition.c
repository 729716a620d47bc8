/* SPDX-License-Identifier: MIT */
/*
 * condition: the input is a condition, as it lies in the session, what was read of a call, and its
 * facts. It is executed, whether it is good or not, for it may be written over at any time.
 */
#include <errno.h>

#include "tests/fuzz/read/read.h"
#include "tests/unit/check.h"
#include "values/condition.h"

enum { RANGES = 2, POOL = 64, RESULTS = 8 };

static void take(struct input *in, void *to, size_t n)
{
	size_t have = MIN(n, in->left);

	memset(to, 0, n);
	memcpy(to, in->at, have);
	in->at += have;
	in->left -= have;
}

static void ask(const struct condition *c, const struct reads_state *s,
		const struct condition_facts *f)
{
	enum verdict entry = condition_run(c, false, s, f), exit = condition_run(c, true, s, f);
	int err = condition_check(c);

	MUST(entry <= VERDICT_OPEN && exit <= VERDICT_PASSES);
	MUST(!err || err == -EINVAL);
	/* What needs nothing of the exit is told at the entry. */
	if (!err && !c->at_exit)
		MUST(entry == exit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	auto_free struct condition *c = calloc(1, sizeof(*c));
	auto_free struct reads_state *s = calloc(1, sizeof(*s));
	auto_free struct condition_facts *f = calloc(1, sizeof(*f));

	MUST(c && s && f);
	take(&in, c, offsetof(struct condition, ops));
	take(&in, c->ops, MIN(c->nops, CONDITION_OPS) * sizeof(c->ops[0]));
	take(&in, c->ranges, RANGES * sizeof(c->ranges[0]));
	take(&in, c->pool, POOL);
	take(&in, f, sizeof(*f));
	take(&in, s->v, RESULTS * sizeof(s->v[0]));
	take(&in, s->capture, sizeof(s->capture));
	ask(c, s, f);
	return 0;
}

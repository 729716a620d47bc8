/* SPDX-License-Identifier: MIT */
/*
 * reader_values: what was read of a call, by what stands before its record?
 *
 * That is the bytes that the payload has read; or the registers, by which the function's plan is
 * executed here. The plan is the session's, which the program may have written to.
 */
#include "injector/reader/reader_impl.h"

#include <string.h>

#include "arch/arch.h"

#define load(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)

static bool has_memory(struct reader *r, struct lane *l)
{
	l->capture = l->capture ?: malloc(READS_CAPTURE_MAX);
	if (!l->capture)
		r->stats.damaged++;
	return l->capture;
}

static bool has_capture(struct reader *r, struct lane *l)
{
	l->ncapture = 0;
	return has_memory(r, l);
}

void values_take(struct reader *r, struct lane *l, const uint64_t *body, size_t nwords)
{
	uint64_t data = nwords ? load(&body[0]) >> REC_TIME_SHIFT : 0;
	size_t n = data & ((1u << VALUES_FUNC_SHIFT) - 1);

	l->captured = (uint32_t)(data >> VALUES_FUNC_SHIFT);
	if (!has_capture(r, l))
		return;
	if (!nwords || n > READS_CAPTURE_MAX || n > (nwords - 1) * VALUES_BYTES) {
		r->stats.damaged++;
		return;
	}
	for (size_t i = 0; i < n; i++)
		l->capture[i] = (uint8_t)(load(&body[1 + i / VALUES_BYTES]) >>
					  (i % VALUES_BYTES + 1) * 8);
	l->ncapture = n;
}

void registers_take(struct reader *r, struct lane *l, const uint64_t *body, size_t nwords)
{
	size_t n = nwords ? nwords - 1 : 0;

	l->nregisters = 0;
	if (!n || n > KEPT_ARGUMENTS) {
		r->stats.damaged++;
		return;
	}
	uint64_t upper = load(&body[n]);

	for (size_t i = 0; i < n; i++)
		l->registers[i] = load(&body[i]) >> 8 | (upper >> (i + 1) * 8 & 0xff) << 56;
	l->nregisters = n;
	l->registers_end = l->pos + 1 + nwords;
	l->registers_at = l->at;
}

/* ---- plans ----------------------------------------------------------------- */

/* `n` bytes of the session from an offset on. */
static bool read_session(const struct reader *r, uint64_t off, void *buf, size_t n)
{
	if (off > r->size || n > r->size - off)
		return false;
	memcpy(buf, r->map + off, n);
	return true;
}

/* Once: those of a function change only where calls are sifted, and there no routine records
 * registers; and one that is added again to be read otherwise has another id (verb_add.c). NULL:
 * there is none, or it makes no sense, or memory is out. */
static struct read_plan *copy_plan(const struct reader *r, uint32_t func)
{
	uint64_t list = load(&r->session->plans_off), funcs = load(&r->session->plans_funcs), at;
	uint64_t place = func + (load(&r->session->plans_at) & 1 ? funcs : 0);
	struct read_plan *ret = calloc(1, sizeof(*ret));
	size_t head = offsetof(struct read_plan, ops);
	uint32_t number = 0;

	if (!ret || func >= funcs || list > r->size ||
	    !read_session(r, list + place * sizeof(number), &number, sizeof(number)) || !number)
		goto none;
	at = list + number * 8ull + offsetof(struct capture_plan, plan);
	if (!read_session(r, at, ret, head) || ret->nops > READS_MAX ||
	    !read_session(r, at + head, ret->ops, ret->nops * sizeof(ret->ops[0])) ||
	    reads_check(ret))
		goto none;
	return ret;
none:
	free(ret);
	return NULL;
}

static const struct read_plan *plan_of(struct reader *r, uint32_t func)
{
	if (func >= r->nplans) {
		struct read_plan **more = reallocarray(r->plans, r->nfuncs, sizeof(*more));

		if (!more)
			return NULL;
		memset(more + r->nplans, 0, (r->nfuncs - r->nplans) * sizeof(*more));
		r->plans = more;
		r->nplans = r->nfuncs;
	}
	r->plans[func] = r->plans[func] ?: copy_plan(r, func);
	return r->plans[func];
}

void plans_forget(struct reader *r)
{
	for (size_t i = 0; i < r->nplans; i++)
		free(r->plans[i]);
	free(r->plans);
}

/* A plan of registers reads no memory. */
static size_t read_nothing(void *ctx, uint64_t at, void *buf, size_t n)
{
	return 0;
}

void registers_read(struct reader *r, struct lane *l, uint32_t func, bool at_exit)
{
	const uint8_t *order = at_exit ? arch_host()->results : arch_host()->arguments;
	size_t most = at_exit ? arch_host()->nresults : arch_host()->narguments;
	static const struct reads_memory memory = { read_nothing, NULL };
	struct reads_registers regs = { 0 };
	struct reads_state *s = &r->read;

	/* A record that has been left for good has a hole where it was to be. */
	if (!l->nregisters || l->registers_end != l->pos || l->registers_at != l->at)
		return;
	const struct read_plan *plan = plan_of(r, func);

	if (!plan || !has_capture(r, l)) {
		r->stats.damaged++;
		return;
	}
	for (size_t i = 0; i < MIN(l->nregisters, most); i++)
		regs.general[order[i]] = l->registers[i];
	memset(s->v, 0, sizeof(s->v));
	s->used = 0;
	reads_run(plan, at_exit, &regs, &memory, s);
	memcpy(l->capture, s->capture, s->used);
	l->ncapture = s->used;
	l->captured = func;
}

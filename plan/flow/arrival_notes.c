/* SPDX-License-Identifier: MIT */
/* arrival_notes: what was found so far of where control may arrive, and of what is not known. */
#include "plan/arrivals.h"

#include <errno.h>

enum { PADDING = 64 };	/* bytes between two functions, at most */

int arrivals_doubt(struct plan_impl *p, raddr_t pc, enum unproved why)
{
	struct doubt *d = vec_push(p->doubts, p->ndoubts, p->doubts_cap);

	if (!d)
		return -ENOMEM;
	*d = (struct doubt){ pc, why };
	return 0;
}

int arrivals_way(struct plan_impl *p, raddr_t a)
{
	size_t left;

	if (!symbols_text(p->symbols, a, &left) || symbols_func_at(p->symbols, a))
		return 0;
	raddr_t *new = vec_push(p->ways, p->nways, p->ways_cap);

	if (!new)
		return -ENOMEM;
	*new = a;
	return 0;
}

bool arrivals_names_code(const struct plan_impl *p, raddr_t a)
{
	size_t left;

	return symbols_text(p->symbols, a, &left) &&
		(!symbols_is_tabled(p->symbols, a) || symbols_func_at(p->symbols, a));
}

bool arrivals_is_code(const struct plan_impl *p, raddr_t a)
{
	size_t left;
	const uint8_t *bytes = symbols_text(p->symbols, a, &left);

	if (!bytes || symbols_func_at(p->symbols, a))
		return bytes;
	/* A segment that may run has data, too. */
	if (symbols_is_data(p->symbols, a, NULL))
		return false;
	for (int i = 0; i < 64 && left; i++) {
		struct effect e;
		struct insn in;

		if (p->arch->measure(bytes, left, a, &in))
			return false;
		p->arch->effect(bytes, left, &in, &e);
		if (e.forbidden)
			return false;
		if (insn_ends(&in))
			return in.kind != INSN_STOP;
		bytes += in.size, a += in.size, left -= in.size;
	}
	return false;
}

/* Some compilers compute no address of code, and their tables, of addresses, lead to their own
 * function only: what looks like one elsewhere is a number. */
void arrivals_lead_to(struct plan_impl *p, raddr_t a)
{
	if (!runtimes_is_number(p, a))
		ground_add_target(p, a);
}

void arrivals_suspect(struct plan_impl *p, const struct func *f, enum suspect s)
{
	uint8_t *of = &p->suspects[f - p->symbols->funcs];

	if ((__atomic_load_n(of, __ATOMIC_RELAXED) & s) != s)
		__atomic_fetch_or(of, (uint8_t)s, __ATOMIC_RELAXED);
}

struct range arrivals_gap(const struct plan_impl *p, raddr_t at)
{
	const struct symbols *syms = p->symbols;
	size_t next = vec_prefix(syms->nfuncs, i, syms->funcs[i].range.start <= at);
	struct range ret = { 0 };

	for (size_t i = 0; i < syms->ntexts; i++)
		if (range_has(syms->texts[i].range, at))
			ret = syms->texts[i].range;
	if (next && syms->funcs[next - 1].range.end > ret.start)
		ret.start = syms->funcs[next - 1].range.end;
	if (next < syms->nfuncs)
		ret.end = MIN(ret.end, syms->funcs[next].range.start);
	symbols_is_data(syms, at, &ret);
	return ret;
}

bool arrivals_pads(const struct plan_impl *p, raddr_t a)
{
	size_t left;
	const uint8_t *bytes = symbols_text(p->symbols, a, &left);
	struct range gap = arrivals_gap(p, a);

	return bytes && range_has(gap, a) && gap.end - a <= PADDING &&
		p->arch->is_padding(bytes, gap.end - a);
}

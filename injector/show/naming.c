/* SPDX-License-Identifier: MIT */
#include "injector/show/naming.h"

#include "arch/arch.h"
#include "injector/log/clock.h"
#include "injector/proc/procfs.h"

enum {
	LOOKS = 64,		/* at the modules: each keeps files open */
	CALL_MOST = 16,		/* bytes of an instruction */
};

#define LOOK_APART 1000000000ull

struct named {
	struct caller caller;	/* its address 0: free */
	bool code;
};

static struct named *slot_of(const struct naming *n, uint64_t address)
{
	size_t i = (address * 0x9e3779b97f4a7c15ull >> 32) & (n->cap - 1);

	while (n->v[i].caller.address && n->v[i].caller.address != address)
		i = (i + 1) & (n->cap - 1);
	return &n->v[i];
}

static bool naming_grow(struct naming *n)
{
	struct naming larger = { .cap = MAX(n->cap * 2, (size_t)1024) };

	larger.v = calloc(larger.cap, sizeof(*larger.v));
	if (!larger.v)
		return false;
	for (size_t i = 0; i < n->cap; i++)
		if (n->v[i].caller.address)
			*slot_of(&larger, n->v[i].caller.address) = n->v[i];
	free(n->v);
	n->v = larger.v;
	n->cap = larger.cap;
	return true;
}

/* The newest look first: what was unloaded may have made room for another. */
static struct module *module_of(const struct naming *n, raddr_t at)
{
	struct module *m = NULL;

	for (size_t i = n->nlater; i && !m; i--)
		m = modules_at(&n->later[i - 1], at);
	return m ? m : modules_at(n->mods, at);
}

static struct module *look_again(struct naming *n, raddr_t at)
{
	uint64_t now = clock_monotonic();
	struct modules *mods = now < n->next_look || n->nlater == LOOKS ? NULL :
		vec_push(n->later, n->nlater, n->later_cap);

	if (!mods)
		return NULL;
	if (modules_open_process(n->target->pid, mods) < 0) {
		fail_clear();
		modules_close(mods);
		n->nlater--;
	}
	n->next_look = clock_monotonic() + LOOK_APART;
	return module_of(n, at);
}

/* Is there a call right before? */
static bool is_behind_call(const struct naming *n, raddr_t at)
{
	uint8_t code[CALL_MOST];
	struct insn in;

	if (target_read(n->target, at - sizeof(code), code, sizeof(code)) < 0) {
		fail_clear();
		return false;
	}
	for (size_t size = 1; size <= sizeof(code); size++)
		if (!arch_host()->measure(code + sizeof(code) - size, size, at - size, &in) &&
		    in.size == size && (in.kind == INSN_CALL || in.kind == INSN_CALL_INDIRECT))
			return true;
	return false;
}

struct asked {
	raddr_t at;
	bool exec;
};

static int ask_mapping(void *ctx, const struct mapping *m)
{
	struct asked *a = ctx;

	a->exec |= m->exec && range_has(m->range, a->at);
	return a->exec;
}

/* Of memory that no file is mapped to: code that was made at run time, as far as one can tell. */
static bool is_made_code(const struct naming *n, raddr_t at, bool exact)
{
	struct asked a = { .at = at - !exact };

	if (procfs_maps(n->target->pid, ask_mapping, &a) < 0)
		fail_clear();
	return a.exec && (exact || is_behind_call(n, at));
}

static struct named find_name(struct naming *n, uint64_t address)
{
	bool exact = address & CALLERS_EXACT;
	raddr_t at = address & ~CALLERS_EXACT, before = at - !exact;
	struct named ret = { { .address = address }, true };
	struct module *m = module_of(n, before);
	const struct func *f = NULL;

	m = m ? m : look_again(n, before);
	if (!m) {
		ret.code = is_made_code(n, at, exact);
		return ret;
	}
	if (module_symbols(m) < 0)
		fail_clear();
	else
		f = symbols_func_at(m->symbols, before - m->bias);
	ret.caller.module = m->base;
	ret.caller.func = f ? f->name : NULL;
	ret.caller.offset = at - m->bias - (f ? f->range.start : 0);
	return ret;
}

bool naming_find(void *ctx, uint64_t address, struct caller *ret)
{
	struct naming *n = ctx;
	struct named *slot, now;

	*ret = (struct caller){ .address = address };
	if (n->n * 2 >= n->cap && !naming_grow(n))
		return true;
	slot = slot_of(n, address);
	if (slot->caller.address) {
		*ret = slot->caller;
		return slot->code;
	}
	now = find_name(n, address);
	/* What was not found may have been loaded since the last look. */
	if (now.caller.module || now.code) {
		*slot = now;
		n->n++;
	}
	*ret = now.caller;
	return now.code;
}

void naming_end(struct naming *n)
{
	for (size_t i = 0; i < n->nlater; i++)
		modules_close(&n->later[i]);
	free(n->later);
	free(n->v);
	*n = (struct naming){ 0 };
}

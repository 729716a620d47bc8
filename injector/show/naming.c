/* SPDX-License-Identifier: MIT */
#include "injector/show/naming.h"

#include "arch/arch.h"
#include "injector/proc/procfs.h"

enum {
	LOOKS = 64,		/* at the modules: each keeps files open */
	CALL_MOST = 16,		/* bytes of an instruction */
};

struct named {
	struct caller caller;	/* its address 0: free */
	char *inlined;		/* its own */
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
	struct modules *mods = n->nlater == LOOKS ? NULL :
		vec_push(n->later, n->nlater, n->later_cap);

	if (!mods)
		return NULL;
	if (modules_open_process(n->target->pid, mods) < 0) {
		fail_clear();
		modules_close(mods);
		n->nlater--;
	}
	return module_of(n, at);
}

/* Is there a call right before, in this memory? */
static bool is_behind_call(const struct naming *n, struct range range, raddr_t at)
{
	size_t most = MIN((size_t)CALL_MOST, at - range.start);
	uint8_t code[CALL_MOST];
	struct insn in;

	if (target_read(n->target, at - most, code, most) < 0) {
		fail_clear();
		return false;
	}
	for (size_t size = 1; size <= most; size++)
		if (!arch_host()->measure(code + most - size, size, at - size, &in) &&
		    in.size == size && (in.kind == INSN_CALL || in.kind == INSN_CALL_INDIRECT))
			return true;
	return false;
}

struct asked {
	raddr_t at;
	struct range found;	/* empty: no code can be there */
	bool file;		/* a file is mapped there */
};

static int ask_mapping(void *ctx, const struct mapping *m)
{
	struct asked *a = ctx;

	if (!m->exec || !range_has(m->range, a->at))
		return 0;
	a->found = m->range;
	a->file = m->path[0] == '/';
	return 1;
}

static void name_in(struct module *m, raddr_t at, raddr_t before, struct named *named)
{
	struct caller *ret = &named->caller;
	const struct func *f = NULL;

	if (module_symbols(m) < 0)
		fail_clear();
	else
		f = symbols_func_at(m->symbols, before - m->bias);
	ret->module = m->base;
	ret->func = f ? f->name : NULL;
	ret->offset = at - m->bias - (f ? f->range.start : 0);
	if (f && module_inlined(m, f, before - m->bias, &named->inlined))
		fail_clear();
	ret->inlined = named->inlined;
}

/* Of memory that no file is mapped to: it may be code that was made at run time. *keep: what was
 * found will not change. */
static struct named find_name(struct naming *n, uint64_t address, bool *keep)
{
	bool exact = address & CALLERS_EXACT;
	raddr_t at = address & ~CALLERS_EXACT, before = at - !exact;
	struct named ret = { .caller.address = address, .code = true };
	struct module *m = module_of(n, before);
	struct asked a = { .at = before };

	/* Of the kernel's code nothing but that is needed, and no file tells. */
	if (!m && callers_are_handled_at(n->callers, before)) {
		*keep = true;
		ret.caller.module = "[vdso]";
		return ret;
	}
	if (!m && procfs_maps(n->target->pid, ask_mapping, &a) < 0)
		fail_clear();
	if (!m && a.file)
		m = look_again(n, before);
	*keep = m || (range_size(a.found) && !a.file);
	if (m)
		name_in(m, at, before, &ret);
	else
		ret.code = range_size(a.found) && (exact || is_behind_call(n, a.found, at));
	return ret;
}

bool naming_find(void *ctx, uint64_t address, struct caller *ret)
{
	struct naming *n = ctx;
	struct named *slot, now;
	bool keep;

	*ret = (struct caller){ .address = address };
	if (n->n * 2 >= n->cap && !naming_grow(n))
		return true;
	slot = slot_of(n, address);
	if (slot->caller.address) {
		*ret = slot->caller;
		return slot->code;
	}
	now = find_name(n, address, &keep);
	if (keep) {
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
	for (size_t i = 0; i < n->cap; i++)
		free(n->v[i].inlined);
	free(n->later);
	free(n->v);
	*n = (struct naming){ 0 };
}

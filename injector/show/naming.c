/* SPDX-License-Identifier: MIT */
#include "injector/show/naming.h"

#include "arch/arch.h"
#include "injector/log/clock.h"

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
		m = modules_image(&n->later[i - 1], at);
	return m ? m : modules_image(n->mods, at);
}

static bool is_known(const struct modules *mods, const struct module *m)
{
	for (size_t i = 0; i < mods->n; i++)
		if (mods->v[i].ino == m->ino && mods->v[i].dev == m->dev &&
		    mods->v[i].span.start == m->span.start)
			return true;
	return false;
}

/* What is known has its symbols already: to read these once more may take a second. */
static bool is_new(void *ctx, const struct module *m)
{
	const struct naming *n = ctx;
	bool known = is_known(n->mods, m);

	for (size_t i = 0; i + 1 < n->nlater && !known; i++)
		known = is_known(&n->later[i], m);
	return !known;
}

static struct module *look_again(struct naming *n, raddr_t at)
{
	struct modules *mods = n->looks == LOOKS ? NULL :
		vec_push(n->later, n->nlater, n->later_cap);

	if (!mods)
		return NULL;
	n->looks++;
	if (modules_open_process(n->target->pid, mods) < 0)
		fail_clear();
	else
		modules_keep(mods, is_new, n);
	if (!mods->n) {
		modules_close(mods);
		n->nlater--;
	}
	return module_of(n, at);
}

/* The code that is mapped there. A list of all is made anew for what is not in it, but only when
 * ten times as long has passed as that takes. */
static const struct area *code_at(struct naming *n, raddr_t at)
{
	const struct area *a = layout_at(&n->layout, at);
	uint64_t now = clock_monotonic();

	if (!(a && a->exec) && now >= n->next_list) {
		if (layout_read(&n->layout, n->target->pid, NULL, NULL) < 0)
			fail_clear();
		n->next_list = now + 10 * (clock_monotonic() - now);
		a = layout_at(&n->layout, at);
	}
	return a && a->exec ? a : NULL;
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

	/* Of the kernel's code nothing but that is needed, and no file tells. */
	if (!m && callers_are_handled_at(n->callers, before)) {
		*keep = true;
		ret.caller.module = "[vdso]";
		return ret;
	}
	const struct area *code = m ? NULL : code_at(n, before);

	if (code && code->image)
		m = look_again(n, before);
	*keep = m || code;
	if (m)
		name_in(m, at, before, &ret);
	else
		ret.code = code && (exact || is_behind_call(n, code->range, at));
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
	layout_clear(&n->layout);
	free(n->later);
	free(n->v);
	*n = (struct naming){ 0 };
}

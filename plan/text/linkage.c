/* SPDX-License-Identifier: MIT */
/*
 * linkage: where are the stubs that jump to functions of other files?
 *
 * What stands between the stubs (it binds a symbol at its first call) belongs to none of
 * them: words that are not bound yet lead there.
 */
#include <errno.h>

#include "plan/plan.h"

struct stubs {
	struct plt_stub *v;
	size_t n, cap;
};

static int add_table(const struct arch *arch, const struct symbols *syms,
		     struct range table, struct stubs *ret)
{
	raddr_t pc = table.start;

	while (pc < table.end) {
		size_t left;
		const uint8_t *p = symbols_text(syms, pc, &left);
		struct insn in;
		raddr_t slot;

		if (!p || arch->measure(p, MIN(left, table.end - pc), pc, &in))
			return 0;
		size_t size = arch->linkage(p, MIN(left, table.end - pc), pc, &slot);
		const char *raw = size ? symbols_slot(syms, slot) : NULL;
		struct plt_stub *s = raw ? vec_push(ret->v, ret->n, ret->cap) : NULL;

		if (raw && !s)
			return -ENOMEM;
		if (raw)
			*s = (struct plt_stub){ { pc, pc + size }, raw };
		pc += raw ? size : in.size;
	}
	return 0;
}

int plan_linkage(const struct arch *arch, struct symbols *syms)
{
	struct stubs stubs = { 0 };
	int err = 0;

	for (size_t i = 0; i < syms->ntables && !err; i++)
		err = add_table(arch, syms, syms->tables[i], &stubs);
	if (err)
		err = fail(-err, "read the linkage table of %s", syms->path);
	else if (stubs.n)
		err = symbols_add_stubs(syms, stubs.v, stubs.n);
	free(stubs.v);
	return err;
}

/* SPDX-License-Identifier: MIT */
/*
 * select_reserved: which functions must be left alone, also if they are asked for?
 *
 * The list is short, since little is at stake: no probe changes a return
 * address, and the recording takes no lock, allocates nothing and calls
 * nothing. So malloc, setjmp, dlopen or __cxa_throw are functions like others.
 * What is left are functions whose entry is not a call, and those whose exit is
 * not a return: of these the entry can be probed, for control comes there by
 * a call, once, and nothing of ours is left on the stack. Each runtime has a list of
 * its own (plan_reserved).
 */
#include "injector/modules/select.h"

bool select_is_system(const struct module *m)
{
	return m->is_system || (m->is_exe && !m->symbols->interp);
}

enum refusal select_reserved(const struct module *m, const struct func *f)
{
	const struct func_alias *alias = m->symbols->aliases + f->alias;
	bool system = select_is_system(m);
	enum refusal why = plan_reserved(m->symbols, f, f->raw, system);

	if (m->is_payload)
		return REFUSED_RESERVED;
	/* A stub is not the function of its name, and has an entry only. */
	if (f->flags & FUNC_PLT)
		return m->shared ? REFUSED_SHARED_TEXT : REFUSED_NONE;
	for (uint32_t i = 0; i < f->naliases && why != REFUSED_RESERVED; i++) {
		enum refusal now = plan_reserved(m->symbols, f, alias[i].raw, system);

		why = now ? now : why;
	}
	if (why == REFUSED_RESERVED)
		return why;
	if (f->flags & FUNC_IFUNC)
		return REFUSED_IFUNC;
	return m->shared ? REFUSED_SHARED_TEXT : why;
}

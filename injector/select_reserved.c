/* SPDX-License-Identifier: MIT */
/*
 * select_reserved: which functions must be left alone, whoever asks for them?
 *
 * The list is short, since little is at stake: no probe changes a return
 * address, and the recording takes no lock, allocates nothing and calls
 * nothing. So malloc, setjmp, dlopen or __cxa_throw are functions like others.
 * What is left are functions whose entry or exit is not a call or a return.
 */
#include <fnmatch.h>

#include "injector/select.h"

struct reserved {
	const char *glob;	/* of the raw symbol */
	bool system;		/* in the C library and the loader only, or in
				 * what has them linked in: another program may
				 * have a function of that name */
};

static const struct reserved list[] = {
	/* The kernel "returns" here from a signal handler, and unwinders know
	 * the place by its very bytes. */
	{ "__restore_rt", true },
	{ "__restore", true },

	/* Entered by a jump of the linkage table: their stack pointer is no
	 * call's, and they leave by a jump with another. */
	{ "_dl_runtime_resolve*", true },
	{ "_dl_runtime_profile*", true },

	/* Debuggers keep a breakpoint here. */
	{ "_dl_debug_state", true },

	/* The child returns first, on the stack and in the memory of the
	 * parent; or begins in the middle, before it has a thread pointer. */
	{ "vfork", true }, { "__vfork", true }, { "__libc_vfork", true },
	{ "clone", true }, { "__clone", true },
	{ "clone3", true }, { "__clone3", true }, { "__clone_internal*", true },

	/* Entered by a return, or leave for another stack by one. */
	{ "__start_context", true }, { "__push___start_context", true },
	{ "setcontext", true }, { "__setcontext", true },
	{ "swapcontext", true }, { "__swapcontext", true },

	/* They return into a caller of their callers, with the stack pointer
	 * that belongs there; wherever the unwinder is linked in. The rest of
	 * it works on return addresses, which no probe changes. */
	{ "_Unwind_RaiseException*", false }, { "_Unwind_ForcedUnwind*", false },
	{ "_Unwind_Resume*", false },

	/* musl cancels a wait by where in here the thread stands. */
	{ "__syscall_cp_asm", true }, { "__cp_begin", true }, { "__cp_end", true },
	{ "__cp_cancel", true },

	/* Split stacks: returns into a function that then returns to it. */
	{ "__morestack*", false },
};

static bool is_listed(const char *raw, bool system)
{
	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		if ((system || !list[i].system) && fnmatch(list[i].glob, raw, 0) == 0)
			return true;
	return false;
}

/* Does it hold the C library? */
static bool is_system(const struct module *m)
{
	return m->is_system || (m->is_exe && !m->symbols->interp);
}

enum refusal select_reserved(const struct module *m, const struct func *f)
{
	const struct func_alias *alias = m->symbols->aliases + f->alias;

	if (m->is_payload)
		return REFUSED_RESERVED;
	if (range_overlaps(m->symbols->go, f->range))
		return REFUSED_GO;
	/* A stub is not the function of its name, and has an entry only. */
	if (f->flags & FUNC_PLT)
		return m->shared ? REFUSED_SHARED_TEXT : REFUSED_NONE;
	if (is_listed(f->raw, is_system(m)))
		return REFUSED_RESERVED;
	for (uint32_t i = 0; i < f->naliases; i++)
		if (is_listed(alias[i].raw, is_system(m)))
			return REFUSED_RESERVED;
	if (f->flags & FUNC_IFUNC)
		return REFUSED_IFUNC;
	return m->shared ? REFUSED_SHARED_TEXT : REFUSED_NONE;
}

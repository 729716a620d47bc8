/* SPDX-License-Identifier: MIT */
/*
 * select_reserved: which functions must be left alone, also if they are asked for?
 *
 * The list is short, since little is at stake: no probe changes a return
 * address, and the recording takes no lock, allocates nothing and calls
 * nothing. So malloc, setjmp, dlopen or __cxa_throw are functions like others.
 * What is left are functions whose entry is not a call, and those whose exit is
 * not a return: of these the entry can be probed, for control comes there by
 * a call, once, and nothing of ours is left on the stack.
 */
#include <fnmatch.h>
#include <string.h>

#include "injector/modules/select.h"

/* Another program may have a function of the same name. */
enum whose {
	ANYBODYS = 1,
	SYSTEMS = 2,		/* in the C library and the loader only, or in what has
				 * them linked in */
	GOS = 4,		/* in what is of Go only */
};

struct reserved {
	const char *glob;	/* of the raw symbol */
	enum whose whose;
	enum refusal why;	/* RESERVED, or LEFT_OTHERWISE: its exits */
};

static const struct reserved list[] = {
	/* The kernel "returns" here from a signal handler, and unwinders know
	 * the place by its very bytes. */
	{ "__restore_rt", SYSTEMS, REFUSED_RESERVED },
	{ "__restore", SYSTEMS, REFUSED_RESERVED },

	/* Entered by a jump of the linkage table: their stack pointer is no
	 * call's, and they leave by a jump with another. */
	{ "_dl_runtime_resolve*", SYSTEMS, REFUSED_RESERVED },
	{ "_dl_runtime_profile*", SYSTEMS, REFUSED_RESERVED },

	/* Split stacks: called where there is no room left on one. */
	{ "__morestack*", ANYBODYS, REFUSED_RESERVED },

	/* The child returns first, on the stack and in the memory of the
	 * parent; or begins behind the system call, before it has a thread
	 * pointer. */
	{ "vfork", SYSTEMS, REFUSED_LEFT_OTHERWISE },
	{ "__vfork", SYSTEMS, REFUSED_LEFT_OTHERWISE },
	{ "__libc_vfork", SYSTEMS, REFUSED_LEFT_OTHERWISE },
	{ "clone", SYSTEMS, REFUSED_LEFT_OTHERWISE },
	{ "__clone", SYSTEMS, REFUSED_LEFT_OTHERWISE },
	{ "clone3", SYSTEMS, REFUSED_LEFT_OTHERWISE },
	{ "__clone3", SYSTEMS, REFUSED_LEFT_OTHERWISE },

	/* They leave for another stack, by a return into what waits there;
	 * and a context's first function returns into the last but two. */
	{ "__start_context", SYSTEMS, REFUSED_LEFT_OTHERWISE },
	{ "__push___start_context", SYSTEMS, REFUSED_LEFT_OTHERWISE },
	{ "setcontext", SYSTEMS, REFUSED_LEFT_OTHERWISE },
	{ "__setcontext", SYSTEMS, REFUSED_LEFT_OTHERWISE },
	{ "swapcontext", SYSTEMS, REFUSED_LEFT_OTHERWISE },
	{ "__swapcontext", SYSTEMS, REFUSED_LEFT_OTHERWISE },

	/* They return into a caller of their callers, with the stack pointer
	 * that belongs there; wherever the unwinder is linked in. The rest of
	 * it works on return addresses, which no probe changes. */
	{ "_Unwind_RaiseException*", ANYBODYS, REFUSED_LEFT_OTHERWISE },
	{ "_Unwind_ForcedUnwind*", ANYBODYS, REFUSED_LEFT_OTHERWISE },
	{ "_Unwind_Resume*", ANYBODYS, REFUSED_LEFT_OTHERWISE },

	/* Go's. As __restore_rt. */
	{ "runtime.sigreturn*", ANYBODYS, REFUSED_RESERVED },
	/* Their callers keep the frame pointer right below their return address. */
	{ "runtime.duffzero", ANYBODYS, REFUSED_RESERVED },
	{ "runtime.duffcopy", ANYBODYS, REFUSED_RESERVED },

	/* They leave for another stack, or another place on it, and what they were
	 * called by goes on by itself. */
	{ "runtime.gogo", ANYBODYS, REFUSED_LEFT_OTHERWISE },
	{ "gogo", GOS, REFUSED_LEFT_OTHERWISE },
	{ "runtime.mcall", ANYBODYS, REFUSED_LEFT_OTHERWISE },
	{ "runtime.morestack*", ANYBODYS, REFUSED_LEFT_OTHERWISE },
	{ "runtime.jmpdefer", ANYBODYS, REFUSED_LEFT_OTHERWISE },
	/* They do not return, and what they are called by is over by then: see
	 * calls_mark in reader_calls.c. */
	{ "runtime.goexit", ANYBODYS, REFUSED_LEFT_OTHERWISE },
	{ "runtime.goexit1", ANYBODYS, REFUSED_LEFT_OTHERWISE },
	{ "runtime.exitThread", ANYBODYS, REFUSED_LEFT_OTHERWISE },
	/* Two processes return, or two threads, with the same stack at first. */
	{ "runtime.clone", ANYBODYS, REFUSED_LEFT_OTHERWISE },
	{ "syscall.rawVforkSyscall", ANYBODYS, REFUSED_LEFT_OTHERWISE },
	/* Go's runtime lets go of a thread that C made, which has no g from then
	 * on: no stack is in %r14 where it returns. Others give it one, or
	 * another one. */
	{ "runtime.dropm", ANYBODYS, REFUSED_LEFT_OTHERWISE },
	{ "runtime.needm", ANYBODYS, REFUSED_LEFT_OTHERWISE },
	{ "runtime.setg", ANYBODYS, REFUSED_LEFT_OTHERWISE },
	{ "setg_gcc", ANYBODYS, REFUSED_LEFT_OTHERWISE },
	{ "runtime.setg_gcc", ANYBODYS, REFUSED_LEFT_OTHERWISE },

	/* musl cancels a wait by where in here the thread stands. */
	{ "__syscall_cp_asm", SYSTEMS, REFUSED_RESERVED },
	{ "__cp_begin", SYSTEMS, REFUSED_RESERVED },
	{ "__cp_end", SYSTEMS, REFUSED_RESERVED },
	{ "__cp_cancel", SYSTEMS, REFUSED_RESERVED },
};

enum { LITERAL = 2 };		/* characters with which each of them begins */

/* `whose` it may be: a set. */
static enum refusal listed(const char *raw, unsigned int whose)
{
	/* Go's linker makes such a name of assembly's. */
	static const char suffix[] = ".abi0";
	size_t n = strlen(raw), end = sizeof(suffix) - 1;
	char name[64];

	if (n >= end && n - end < sizeof(name) && !strcmp(raw + n - end, suffix)) {
		memcpy(name, raw, n - end);
		name[n - end] = '\0';
		raw = name;
	}
	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		if (whose & list[i].whose && !strncmp(raw, list[i].glob, LITERAL) &&
		    !fnmatch(list[i].glob, raw, 0))
			return list[i].why;
	return REFUSED_NONE;
}

bool select_is_system(const struct module *m)
{
	return m->is_system || (m->is_exe && !m->symbols->interp);
}

enum refusal select_reserved(const struct module *m, const struct func *f)
{
	const struct func_alias *alias = m->symbols->aliases + f->alias;
	bool go = range_overlaps(m->symbols->go, f->range);
	unsigned int whose = ANYBODYS | (select_is_system(m) ? SYSTEMS : 0) | (go ? GOS : 0);
	enum refusal why = listed(f->raw, whose);

	if (m->is_payload)
		return REFUSED_RESERVED;
	/* A stub is not the function of its name, and has an entry only. */
	if (f->flags & FUNC_PLT)
		return m->shared ? REFUSED_SHARED_TEXT : REFUSED_NONE;
	for (uint32_t i = 0; i < f->naliases && why != REFUSED_RESERVED; i++) {
		enum refusal now = listed(alias[i].raw, whose);

		why = now ? now : why;
	}
	if (why == REFUSED_RESERVED)
		return why;
	if (f->flags & FUNC_IFUNC)
		return REFUSED_IFUNC;
	return m->shared ? REFUSED_SHARED_TEXT : why;
}

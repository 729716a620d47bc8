/* SPDX-License-Identifier: MIT */
/* runtime_c: what C libraries, their loaders and unwinders have for themselves. */
#include "plan/impl.h"

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
	{ "__morestack*", ANYWHERE, REFUSED_RESERVED },

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
	{ "_Unwind_RaiseException*", ANYWHERE, REFUSED_LEFT_OTHERWISE },
	{ "_Unwind_ForcedUnwind*", ANYWHERE, REFUSED_LEFT_OTHERWISE },
	{ "_Unwind_Resume*", ANYWHERE, REFUSED_LEFT_OTHERWISE },

	/* musl cancels a wait by where in here the thread stands. */
	{ "__syscall_cp_asm", SYSTEMS, REFUSED_RESERVED },
	{ "__cp_begin", SYSTEMS, REFUSED_RESERVED },
	{ "__cp_end", SYSTEMS, REFUSED_RESERVED },
	{ "__cp_cancel", SYSTEMS, REFUSED_RESERVED },
	{ .glob = NULL },
};

static bool may_lower(const struct choice *c)
{
	return c->may_short;
}

const struct runtime runtime_c = { .name = "C", .reserved = list, .may_lower = may_lower };

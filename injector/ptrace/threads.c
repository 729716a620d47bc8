/* SPDX-License-Identifier: MIT */
/* threads: the runtimes that keep them. */
#include "injector/ptrace/threads.h"

#include <stdio.h>

static const struct thread_runtime *const list[] = {
#define X(name) &threads_##name,
	THREAD_RUNTIMES(X)
#undef X
};

const struct thread_runtime *threads_by_number(uint32_t number)
{
	return number && number <= ARRAY_SIZE(list) ? list[number - 1] : NULL;
}

uint32_t threads_number(const struct thread_runtime *r)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(list); i++)
		if (list[i] == r)
			return i + 1;
	return 0;
}

const struct thread_runtime *threads_keeper(const struct target *t, raddr_t tp,
					     struct kept_thread *ret)
{
	*ret = (struct kept_thread){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		if (list[i]->keeps && list[i]->keeps(t, tp, ret))
			return list[i];
	return NULL;
}

const struct thread_runtime *threads_of(const struct symbols *syms)
{
	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		if (list[i]->made && list[i]->made(syms))
			return list[i];
	return NULL;
}

const char *threads_names(void)
{
	static char names[32 * ARRAY_SIZE(list)];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s",
				      !i ? "" : i + 1 < ARRAY_SIZE(list) ? ", " : " or ",
				      list[i]->name);
	return names;
}

const char *threads_no_loader(void)
{
	return "its C library is not glibc";
}

struct range kept_stack(const struct kept_thread *k, raddr_t sp)
{
	const struct range *all[] = { &k->own, &k->signal, &k->current };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (range_has(*all[i], sp))
			return *all[i];
	return (struct range){ 0, 0 };
}

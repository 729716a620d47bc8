/* SPDX-License-Identifier: MIT */
/* arch: which instruction set is meant? */
#include "arch/arch.h"

#include <elf.h>

static const struct arch *const all[] = { &arch_x86_64, &arch_arm64 };

const struct arch *arch_by_machine(uint16_t machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i]->machine == machine)
			return all[i];
	return NULL;
}

const struct arch *arch_host(void)
{
#if defined(__x86_64__)
	return &arch_x86_64;
#elif defined(__aarch64__)
	return &arch_arm64;
#else
#error "no instruction set in arch/ for this host"
#endif
}

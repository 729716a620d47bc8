/* SPDX-License-Identifier: MIT */
#include "injector/proc/kernel.h"

#include <unistd.h>

uint64_t kernel_page(void)
{
	return (uint64_t)getpagesize();
}

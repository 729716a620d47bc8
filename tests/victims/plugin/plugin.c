/* SPDX-License-Identifier: MIT */
/* plugin: a library that others load, unload and replace; does it work each
 * time? With OTHER: a later version of it, of the same size. It is linked by another
 * name than its file has, libplugin.so.3. */
#include <unistd.h>

/* In both at the same place. */
__attribute__((aligned(64))) int plugin_answer(int x);
__attribute__((aligned(64))) int held_call(int fd);

int plugin_answer(int x)
{
#ifdef OTHER
	return (x ^ 0x55) - (x >> 3);
#else
	return 3 * x + 7;
#endif
}

/* Returns when a byte comes. */
int held_call(int fd)
{
	char c;

	return read(fd, &c, 1) == 1 ? c : -1;
}

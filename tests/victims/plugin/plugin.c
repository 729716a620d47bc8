/* SPDX-License-Identifier: MIT */
/* plugin: a library that others load, unload and replace; does it work each
 * time? With OTHER: a later version of it, of the same size. */
int plugin_answer(int x);

int plugin_answer(int x)
{
#ifdef OTHER
	return (x ^ 0x55) - (x >> 3);
#else
	return 3 * x + 7;
#endif
}

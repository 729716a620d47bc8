/* SPDX-License-Identifier: MIT */
/* plugin: a library that dlopen_hot loads and unloads; does it work each time? */
int plugin_answer(int x);

int plugin_answer(int x)
{
	return 3 * x + 7;
}

/* SPDX-License-Identifier: MIT */
/*
 * linkage: calls into other libraries through the linkage table, each bound at
 * its first call and not before the first `call`.
 *
 *	call N	-> called N	N rounds of one call each
 */
#include <math.h>

#include "tests/victims/victim.h"

/* More arguments than registers, some of them of floating point: how many is
 * in %al, which a probe must keep. */
static void check_variadic(uint64_t n)
{
	char got[128];
	double d = (double)(n % 1000) + 0.5;

	snprintf(got, sizeof(got), "%llu %.1f %d %d %d %d %d %.1f", (unsigned long long)n,
		 d, 1, 2, 3, 4, 5, -d);
	/* Without the library: the second number and the last. */
	if (strtoull(got, NULL, 10) != n || got[strlen(got) - 1] != '5')
		victim_wrong("snprintf: %s", got);
}

static void check_results(uint64_t n)
{
	long x = (long)(n % 100000) + 1;
	char *text = l64a(x);

	if (a64l(text) != x)
		victim_wrong("a64l");
	if (ldexp((double)x, 3) != (double)x * 8)
		victim_wrong("ldexp");
}

/* In a program that is linked to one address the stub is the function's, and what leads to it is a
 * register. */
static void check_pointer(uint64_t n)
{
	double (*f)(double, int *) = frexp;
	int e;

	__asm__("" : "+r"(f));
	if (f((double)(1ull << n % 50), &e) != 0.5 || e != (int)(n % 50) + 1)
		victim_wrong("frexp");
}

static void command(const char *line)
{
	uint64_t n, i;

	if (sscanf(line, "call %lu", &n) != 1)
		return;
	for (i = 0; i < n; i++) {
		check_variadic(i);
		check_results(i);
		check_pointer(i);
	}
	victim_say("called %lu", n);
}

int main(void)
{
	victim_say("ready");
	while (victim_poll(1, command))
		victim_count();
	return victim_errors != 0;
}

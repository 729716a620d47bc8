/* SPDX-License-Identifier: MIT */
/*
 * conventions: do arguments and results of every kind survive a probe: those in
 * vector (and x87) registers, on the stack, through a pointer that the caller
 * passes unseen, of unknown number, and the environment of a nested function?
 */
#include <complex.h>
#include <pthread.h>

#include "tests/victims/victim.h"

struct large { uint64_t v[40]; };
struct pair { double d; long n; };

/* More than there are registers, of both kinds. */
PROBED double conv_many(int a, double b, long c, float d, char e, double f, short g,
			double h, uint64_t i, double j, int k, double l, int m, double n,
			long double o, int p, double q, double r)
{
	return a + 2 * b + 3 * (double)c + 4 * (double)d + 5 * e + 6 * f + 7 * g + 8 * h +
		9 * (double)i + 10 * j + 11 * k + 12 * l + 13 * m + 14 * n +
		15 * (double)o + 16 * p + 17 * q + 18 * r;
}

PROBED struct large conv_large(struct large by_value, uint64_t add)
{
	for (int i = 0; i < 40; i++)
		by_value.v[i] += add;
	return by_value;
}

PROBED struct pair conv_pair(struct pair p)
{
	return (struct pair){ p.d * 2, p.n + 1 };
}

PROBED long double conv_longest(long double a, long double b)
{
	return a * 3 - b;
}

PROBED long double complex conv_longest_two(long double complex a)
{
	return conjl(a) * 2;
}

PROBED double complex conv_complex(double complex a, double complex b)
{
	return a * b;
}

PROBED __int128 conv_wide(__int128 a, __int128 b)
{
	return a + (b << 3);
}

PROBED uint64_t conv_sum(int n, ...)
{
	uint64_t sum = 0;
	va_list ap;

	va_start(ap, n);
	for (int i = 0; i < n; i++)
		sum += i % 3 == 2 ? (uint64_t)va_arg(ap, double) : va_arg(ap, uint64_t);
	va_end(ap);
	return sum;
}

PROBED uint64_t conv_apply(uint64_t (*f)(uint64_t), uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += f(i);
	return sum;
}

static void check_many(int n)
{
	double want = n + 2 * 1.5 + 3 * 2 + 4 * 0.5 + 5 * 3 + 6 * 2.5 + 7 * 4 + 8 * 3.5 +
		9 * 5 + 10 * 4.5 + 11 * 6 + 12 * 5.5 + 13 * 7 + 14 * 6.5 + 15 * 7.5 +
		16 * 8 + 17 * 8.5 + 18 * 9.5;

	if (conv_many(n, 1.5, 2, 0.5f, 3, 2.5, 4, 3.5, 5, 4.5, 6, 5.5, 7, 6.5, 7.5L, 8,
		      8.5, 9.5) != want)
		victim_wrong("conv_many");
	if (conv_sum(9, (uint64_t)n, 2ul, 3.0, 4ul, 5ul, 6.0, 7ul, 8ul, 9.0) !=
	    (uint64_t)n + 44)
		victim_wrong("conv_sum");
}

static void check_structs(int n)
{
	struct large in, out;
	struct pair p = conv_pair((struct pair){ n + 0.5, n });

	for (int i = 0; i < 40; i++)
		in.v[i] = (uint64_t)(n + i);
	out = conv_large(in, 1000);
	for (int i = 0; i < 40; i++)
		if (in.v[i] != (uint64_t)(n + i) || out.v[i] != in.v[i] + 1000)
			victim_wrong("conv_large");
	if (p.d != 2 * (n + 0.5) || p.n != n + 1)
		victim_wrong("conv_pair");
	if (conv_wide((__int128)n << 70, n) != ((__int128)n << 70) + 8 * n)
		victim_wrong("conv_wide");
}

static void check_floats(int n)
{
	long double complex z = conv_longest_two(n + 2.0L * I);

	if (conv_longest(n + 0.25L, 1.5L) != 3 * (n + 0.25L) - 1.5L)
		victim_wrong("conv_longest");
	if (creall(z) != 2.0L * n || cimagl(z) != -4.0L)
		victim_wrong("conv_longest_two");
	if (conv_complex(n + 1.0 * I, 2.0) != 2.0 * n + 2.0 * I)
		victim_wrong("conv_complex");
}

#if defined(__x86_64__)
#include "tests/victims/conventions_x86_64.h"
#elif defined(__aarch64__)
#include "tests/victims/conventions_arm64.h"
#endif

/* A function that needs its caller's frame: gcc calls it by a trampoline on
 * the stack, which loads a register that no convention knows. */
#ifndef __clang__
static void check_nested(uint64_t n)
{
	__attribute__((noipa)) uint64_t conv_nested(uint64_t x)
	{
		return x * n;
	}

	if (conv_apply(conv_nested, 10) != 45 * n)
		victim_wrong("conv_nested");
}
#else
static uint64_t conv_flat(uint64_t x)
{
	return x;
}

static void check_nested(uint64_t n)
{
	if (conv_apply(conv_flat, 10) != 45)
		victim_wrong("conv_apply");
}
#endif

static void *run(void *arg)
{
	for (int n = 1;; n = (n + 1) % 10000) {
		check_many(n);
		check_structs(n);
		check_floats(n);
		check_vectors(n);
		check_nested((uint64_t)n);
		victim_count();
	}
	return arg;
}

int main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, run, NULL))
			return 1;
	victim_say("ready");
	while (victim_poll(1000, NULL))
		;
	return victim_errors != 0;
}

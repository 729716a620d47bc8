/* SPDX-License-Identifier: MIT */
/*
 * chain: calls of probed(), which prints its callers as these have noted them, each by itself: for
 * each call a line with the thread and the addresses that are returned to, the innermost first, up
 * to main; 0 stands for some that it does not know. It asks no unwinder, so it may be built without
 * any unwind information. With `library` it is called through the C library, too.
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEEP = 200 };

static __thread void *noted[DEEP];
static __thread int depth;
static volatile long sink;

#define NOTE (noted[depth++] = __builtin_return_address(0))
#define FORGET depth--

__attribute__((noinline)) void probed(int n)
{
	char line[8192];
	int at = snprintf(line, sizeof(line), "%ld: %p", (long)syscall(SYS_gettid),
			  __builtin_return_address(0));

	sink += n;
	for (int i = depth; i-- > 0;)
		at += snprintf(line + at, sizeof(line) - (size_t)at, " %#lx", (long)noted[i]);
	line[at++] = '\n';
	if (write(1, line, (size_t)at) != at)
		_exit(1);
}

__attribute__((noinline)) int chain_deep(int n)
{
	volatile char pad[24];

	NOTE;
	pad[0] = (char)n;
	if (n)
		chain_deep(n - 1);
	else
		probed(pad[0]);
	FORGET;
	return pad[0];
}

/* A frame that is larger than what is read of a stack at once, and one whose size is not known. */
__attribute__((noinline)) int chain_large(int n)
{
	volatile char pad[40000];

	NOTE;
	pad[n] = 1;
	probed(n);
	FORGET;
	return pad[n];
}

__attribute__((noinline)) int chain_unknown(size_t n)
{
	volatile char *pad = alloca(n);

	NOTE;
	pad[n - 1] = 1;
	chain_large(3);
	FORGET;
	return pad[n - 1];
}

/* Functions without code of their own, one within another. */
static inline __attribute__((always_inline)) void inner(int n)
{
	probed(n);
	sink += n;
}

static inline __attribute__((always_inline)) void middle(int n)
{
	sink += n;
	inner(n + 1);
	if (sink)
		chain_deep(n);
}

__attribute__((noinline)) int chain_inlined(int n)
{
	NOTE;
	middle(n);
	inner(n);
	probed(n);
	FORGET;
	return (int)sink;
}

static int chain_compare(const void *a, const void *b)
{
	noted[depth++] = NULL;
	probed(1);
	FORGET;
	return *(const int *)a - *(const int *)b;
}

/* Through the C library. */
__attribute__((noinline)) void chain_sort(void)
{
	int v[] = { 3, 1, 2 };

	NOTE;
	qsort(v, 3, sizeof(v[0]), chain_compare);
	FORGET;
}

static void chain_handler(int n)
{
	noted[depth++] = NULL;
	chain_deep(n ? 2 : 0);
	FORGET;
}

__attribute__((noinline)) void chain_all(void)
{
	NOTE;
	probed(0);
	chain_deep(3);
	chain_deep(60);
	chain_large(7);
	chain_unknown((size_t)(5000 + (sink & 1)));
	chain_inlined(5);
	FORGET;
}

static void *thread(void *arg)
{
	chain_all();
	return arg;
}

__attribute__((noinline)) void chain_library(void)
{
	NOTE;
	chain_sort();
	signal(SIGUSR1, chain_handler);
	raise(SIGUSR1);
	FORGET;
}

int main(int argc, char **argv)
{
	pthread_t other;

	chain_all();
	pthread_create(&other, NULL, thread, NULL);
	pthread_join(other, NULL);
	if (argc > 1 && strcmp(argv[1], "library") == 0)
		chain_library();
	return 0;
}

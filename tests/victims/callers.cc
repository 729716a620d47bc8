// SPDX-License-Identifier: MIT
// callers: calls of probed() from everywhere, which prints its callers itself, by backtrace(): for
// each call a line with the thread and the return addresses, the innermost first.
#include <alloca.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <pthread.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static volatile long sink;
static volatile sig_atomic_t struck;

extern "C" {

__attribute__((noinline)) void probed(int n)
{
	void *v[256];
	int many = backtrace(v, 256);
	char line[8192];
	int at = snprintf(line, sizeof(line), "%ld:", syscall(SYS_gettid));

	sink += n;
	for (int i = 1; i < many; i++)
		at += snprintf(line + at, sizeof(line) - (size_t)at, " %p", v[i]);
	line[at++] = '\n';
	if (write(1, line, (size_t)at) != at)
		_exit(1);
}

__attribute__((noinline)) int deep(int n)
{
	volatile char pad[24];

	pad[0] = (char)n;
	if (n)
		deep(n - 1);
	else
		probed(pad[0]);
	return pad[0];
}

/* A frame that is larger than what is read of a stack at once, and one whose size is not known. */
__attribute__((noinline)) int large(int n)
{
	volatile char pad[40000];

	pad[n] = 1;
	probed(n);
	return pad[n];
}

__attribute__((noinline)) int unknown(size_t n)
{
	volatile char *pad = static_cast<char *>(alloca(n));

	pad[n - 1] = 1;
	large(3);
	return pad[n - 1];
}

/* One that is aligned, which takes another way to the caller's. */
__attribute__((noinline)) int aligned(int a, int b, int c, int d, int e, int f, int g, int h)
{
	alignas(64) volatile int v[16];

	v[0] = a + b + c + d + e + f + g + h;
	deep(2);
	return v[0];
}

static int compare(const void *a, const void *b)
{
	probed(1);
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

__attribute__((noinline)) void sort(void)
{
	int v[] = { 3, 1, 2 };

	qsort(v, 3, sizeof(v[0]), compare);
}

static void handler(int)
{
	deep(3);
}

static void strike(int)
{
	if (!struck)
		deep(1);
	struck = 1;
}

/* Interrupted wherever it is, also in a leaf that has no frame. */
__attribute__((noinline)) long leaf(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum = sum * 31 + i;
	return sum;
}

__attribute__((noinline)) void interrupted(void)
{
	struct itimerval soon = { { 0, 0 }, { 0, 2000 } };

	struck = 0;
	setitimer(ITIMER_REAL, &soon, nullptr);
	while (!struck)
		sink += leaf(1000);
}

static void on_signals(int flags)
{
	struct sigaction act = {};

	act.sa_handler = handler;
	act.sa_flags = flags;
	sigaction(SIGUSR1, &act, nullptr);
	raise(SIGUSR1);
	act.sa_handler = strike;
	sigaction(SIGALRM, &act, nullptr);
	interrupted();
}

}

struct Thing {
	~Thing() { probed(4); }
};

__attribute__((noinline)) static void thrower(int n)
{
	Thing thing;

	if (n)
		throw std::runtime_error("thrown");
	sink++;
}

__attribute__((noinline)) static void catcher(int n)
{
	try {
		thrower(n);
	} catch (const std::runtime_error &) {
		probed(5);
	}
}

static void *all(void *)
{
	probed(0);
	deep(20);
	deep(100);
	large(7);
	unknown(static_cast<size_t>(5000 + (sink & 1)));
	aligned(1, 2, 3, 4, 5, 6, 7, 8);
	sort();
	catcher(1);
	catcher(0);
	[] { probed(6); }();
	on_signals(0);
	stack_t stack = {};

	stack.ss_size = 1 << 16;
	stack.ss_sp = mmap(nullptr, stack.ss_size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaltstack(&stack, nullptr);
	on_signals(SA_ONSTACK);
	return nullptr;
}

int main()
{
	void *v[4];
	pthread_t thread;

	backtrace(v, 4);	/* it allocates the first time */
	all(nullptr);
	pthread_create(&thread, nullptr, all, nullptr);
	pthread_join(thread, nullptr);
	return 0;
}

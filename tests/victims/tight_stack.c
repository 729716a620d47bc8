/* SPDX-License-Identifier: MIT */
/*
 * tight_stack fiber|busy|edge: sleeps or works where next to nothing of the stack is left,
 * with live data right below: does no injector that borrows the thread write there?
 *
 * fiber	the only thread, on a stack of its own making
 * busy		the only thread, on its own stack, and never asleep: at the next
 *		look it stands elsewhere
 * edge		a thread at the end of its stack, which an injector would like
 *		better than the others, because its sleep restarts exactly
 */
#include <alloca.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "tests/victims/victim.h"

/* STACK: the least that a thread may have on arm64. */
enum { DATA = 32 << 10, STACK = 128 << 10, LEFT = 600, MARK = 0xa5,
	WORK = 1000 * 1000 };

static unsigned char *data;	/* DATA bytes, and then the stack */
static char *end;		/* of the stack that is used */
static bool busy;

PROBED uint64_t tight_work(uint64_t x)
{
	return x * 29 + 11;
}

/* Not a function: it would need stack. */
static inline void sleep_10ms(void)
{
	struct timespec t = { 0, 10000000 };
#if defined(__x86_64__)
	register long mask __asm__("r10") = 0;
	register long size __asm__("r8") = 8;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret)
			 : "0"(SYS_ppoll), "D"(0), "S"(0), "d"(&t), "r"(mask), "r"(size)
			 : "rcx", "r11", "memory");
#else
	register long number __asm__("x8") = SYS_ppoll;
	register long ret __asm__("x0") = 0;
	register long count __asm__("x1") = 0;
	register const struct timespec *time __asm__("x2") = &t;
	register long mask __asm__("x3") = 0;
	register long size __asm__("x4") = 8;

	__asm__ volatile("svc #0" : "+r"(ret)
			 : "r"(number), "r"(count), "r"(time), "r"(mask), "r"(size) : "memory");
#endif
}

static __attribute__((noinline)) void sleep_at_the_end(void)
{
	char *here = __builtin_frame_address(0);
	volatile char *lowest = alloca(here - end - LEFT);

	*lowest = 1;
	if (!busy)
		sleep_10ms();
	for (int i = 0; busy && i < WORK; i++)
		__asm__ volatile("");
}

static bool round_of(uint64_t x)
{
	for (int i = 0; i < DATA; i++) {
		if (data[i] == MARK)
			continue;
		victim_wrong("live data changed, %d bytes below the stack", DATA - i);
		break;
	}
	if (tight_work(x) != x * 29 + 11)
		victim_wrong("tight_work");
	sleep_at_the_end();
	victim_count();
	return true;
}

static void *edge(void *arg)
{
	for (uint64_t x = 1; round_of(x); x++)
		;
	return arg;
}

static void fiber(void)
{
	for (uint64_t x = 1; round_of(x) && victim_poll(0, NULL); x++)
		;
}

/* Data that must not change lies in a mapping of its own. */
static bool prepare(void)
{
	data = mmap(NULL, DATA + STACK, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED)
		return false;
	memset(data, MARK, DATA);
	end = (char *)data + DATA;
	return mprotect(data, DATA, PROT_READ) == 0;
}

static int run_fiber(void)
{
	static ucontext_t home, there;

	if (getcontext(&there))
		return 1;
	there.uc_stack.ss_sp = data + DATA;
	there.uc_stack.ss_size = STACK;
	there.uc_link = &home;
	makecontext(&there, fiber, 0);
	victim_say("ready");
	return swapcontext(&home, &there);
}

static int run_busy(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "[stack]"))
			end = (char *)strtoull(line, NULL, 16);
	if (!f || fclose(f))
		return 1;
	busy = true;
	victim_say("ready");
	fiber();
	return 0;
}

static int run_edge(void)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, data + DATA, STACK) ||
	    pthread_create(&t, &attr, edge, NULL))
		return 1;
	victim_say("ready");
	while (victim_poll(20, NULL))
		;
	return 0;
}

int main(int argc, char **argv)
{
	int bad = 2;

	if (argc == 2 && prepare())
		bad = strcmp(argv[1], "edge") == 0 ? run_edge() :
			strcmp(argv[1], "busy") == 0 ? run_busy() : run_fiber();
	return bad ? bad : victim_errors != 0;
}

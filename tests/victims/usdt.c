/* SPDX-License-Identifier: MIT */
/*
 * usdt: places for tracers (sys/sdt.h), with and without semaphores, and where the nop is
 * followed by one of five or of ten bytes.
 *
 * Command "semaphores" -> semaphores TICK TOCK: what they are now.
 * Command "run N" -> ran N tick N tock N: so many rounds; how often it has made the arguments of
 * tick and tock meanwhile.
 * Command "set N" -> set N: of tick, as another tracer would.
 * Command "fork" -> child PID: which answers instead, until "back" -> back.
 */
#include <sys/wait.h>

#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#endif

#include "tests/victims/victim.h"

/* As tracers' headers make them. */
#define SEMAPHORE(name) \
	__extension__ unsigned short name __attribute__((unused, section(".probes")))

SEMAPHORE(us_tick_semaphore);
SEMAPHORE(us_tock_semaphore);

#ifdef __x86_64__
#define NOP5 ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
#define NOP10 ".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00\n"
#else
#define NOP5 ""
#define NOP10 ""
#endif

/* By hand, for sys/sdt.h has one form only. */
#define PLACE(name, semaphore, nops, value) __asm__ volatile( \
	"990: nop\n" nops \
	".pushsection .note.stapsdt,\"\",\"note\"\n" \
	".balign 4\n" \
	".4byte 992f-991f, 994f-993f, 3\n" \
	"991: .asciz \"stapsdt\"\n" \
	"992: .balign 4\n" \
	"993: .8byte 990b\n" \
	".8byte _.stapsdt.base\n" \
	".8byte " semaphore "\n" \
	".asciz \"us\"\n" \
	".asciz \"" name "\"\n" \
	".asciz \"8@%0\"\n" \
	"994: .balign 4\n" \
	".popsection\n" \
	".ifndef _.stapsdt.base\n" \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	".weak _.stapsdt.base\n" \
	".hidden _.stapsdt.base\n" \
	"_.stapsdt.base: .space 1\n" \
	".size _.stapsdt.base, 1\n" \
	".popsection\n" \
	".endif\n" : : "nor" ((unsigned long)(value)))

#ifndef DTRACE_PROBE1
#define DTRACE_PROBE1(provider, name, value) PLACE(#name, "0", "", value)
#endif

static unsigned long ticks, tocks;

PROBED void us_round(unsigned long i)
{
	DTRACE_PROBE1(us, plain, i);
	if (__builtin_expect(us_tick_semaphore, 0)) {
		ticks++;
		PLACE("tick", "us_tick_semaphore", "", i);
	}
	if (__builtin_expect(us_tock_semaphore, 0)) {
		tocks++;
		PLACE("tock", "us_tock_semaphore", NOP5, i);
	}
	if (i & 1)
		PLACE("twice", "0", NOP10, i + 1);
	PLACE("twice", "0", NOP5, i);
	victim_count();
}

static bool child;

static void fork_one(void)
{
	pid_t pid = fork();

	if (pid < 0)
		_exit(3);
	if (!pid) {
		child = true;
		victim_say("child %d", getpid());
		return;
	}
	waitpid(pid, NULL, 0);
	victim_say("back");
}

static void each(const char *command)
{
	unsigned long n = 0;

	if (strcmp(command, "fork") == 0) {
		fork_one();
	} else if (strcmp(command, "back") == 0 && child) {
		_exit(0);
	} else if (strcmp(command, "semaphores") == 0) {
		victim_say("semaphores %u %u",
			   __atomic_load_n(&us_tick_semaphore, __ATOMIC_RELAXED),
			   __atomic_load_n(&us_tock_semaphore, __ATOMIC_RELAXED));
	} else if (sscanf(command, "set %lu", &n) == 1) {
		us_tick_semaphore = (unsigned short)n;
		victim_say("set %lu", n);
	} else if (sscanf(command, "run %lu", &n) == 1) {
		ticks = tocks = 0;
		for (unsigned long i = 0; i < n; i++)
			us_round(i);
		victim_say("ran %lu tick %lu tock %lu", n, ticks, tocks);
	}
}

int main(void)
{
	victim_say("ready");
	while (victim_poll(20, each))
		victim_count();
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * runner: how does the handler come back to its own world, and the code under
 * test not out of its own?
 */
#include "tests/fuzz/runner.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "base/base.h"

enum {
	HAS_FSGSBASE = 2,	/* in AT_HWCAP2 */
	XSAVE_HEADER = 512,	/* behind the part that fxsave writes */
	FIP = 8,		/* where the last x87 instruction stood */
	TICKS = 3,		/* of the clock that one run may see */
	TICK_US = 10000,
	HANDLER_STACK = 1 << 17,
};

/* Parts of the XSAVE area that code changes without the kernel's help: their
 * numbers (Intel SDM volume 1, 13.1), and where they lie. */
static struct part {
	uint8_t number;
	uint32_t at, size;
} parts[] = {
	{ 0, 0, 160 },		/* x87 */
	{ 1, 160, 256 },	/* SSE */
	{ 2, 0, 0 },		/* upper halves of ymm */
	{ 5, 0, 0 },		/* mask registers */
	{ 6, 0, 0 },		/* upper halves of zmm0 to zmm15 */
	{ 7, 0, 0 },		/* zmm16 to zmm31 */
};

static struct {
	runner_step *step;
	void *ctx;
	bool begun;
	unsigned int ticks;	/* since the run began */
	uint64_t host_fs;
	struct state host;	/* where runner_run was */
	struct state guest;
} run;

/* Where the later parts lie: CPUID leaf 13. */
static void parts_find(void)
{
	for (size_t i = 2; i < ARRAY_SIZE(parts); i++) {
		uint32_t a = 13, c = parts[i].number, d;

		__asm__("cpuid" : "+a"(a), "=b"(parts[i].at), "+c"(c), "=d"(d));
		parts[i].size = a;
	}
}

/* How much of the area the kernel has written (its own words in the part that
 * hardware leaves free). */
static size_t fp_size(const uint8_t *fp)
{
	const struct _fpx_sw_bytes *sw = (const void *)(fp + 464);

	if (sw->magic1 != FP_XSTATE_MAGIC1)
		return 512;
	return MIN(sw->xstate_size, RUNNER_FP_MAX);
}

/* A part in its initial state is not written: make it what it means. And where
 * the last x87 instruction stood differs, of course. */
static void fp_normalize(struct state *s)
{
	const struct _fpx_sw_bytes *sw = (const void *)(s->fp + 464);
	uint64_t present;

	memset(s->fp + FIP, 0, 8);
	if (s->fp_size <= XSAVE_HEADER)
		return;
	memcpy(&present, s->fp + XSAVE_HEADER, 8);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		const struct part *p = &parts[i];
		uint64_t bit = 1ull << p->number;

		if (i >= 2 && !(present & bit) && p->at + p->size <= s->fp_size)
			memset(s->fp + p->at, 0, p->size);
		/* The next state is loaded whole, so each part is there. */
		present |= bit & sw->xstate_bv;
	}
	memcpy(s->fp + XSAVE_HEADER, &present, 8);
}

static void fill(uint8_t *at, size_t n, uint64_t (*random)(void))
{
	for (size_t i = 0; i + 8 <= n; i += 8) {
		uint64_t x = random();

		memcpy(at + i, &x, 8);
	}
}

void runner_vectors(struct state *s, uint64_t (*random)(void))
{
	/* Masks set; at random how is rounded, and what has happened. */
	uint64_t x = random();
	const uint32_t mxcsr = 0x1f80 | (x & 0xe07f);
	const uint8_t quiet[8] = { 0x7f, (x >> 16 & 0x0c) | (x >> 24 & 1 ? 3 : 2),
				   x >> 32 & 0x3f, x >> 40 & 0x7f };

	fill(s->fp + 32, 416 - 32, random);
	for (size_t i = 2; i < ARRAY_SIZE(parts); i++)
		if (parts[i].at + parts[i].size <= s->fp_size)
			fill(s->fp + parts[i].at, parts[i].size, random);
	memcpy(s->fp, quiet, sizeof(quiet));
	s->fp[4] = (uint8_t)random();	/* which x87 registers are full */
	memcpy(s->fp + 24, &mxcsr, 4);
}

static void state_take(struct state *s, const ucontext_t *uc)
{
	memcpy(s->regs, uc->uc_mcontext.gregs, sizeof(s->regs));
	s->fp_size = fp_size((const uint8_t *)uc->uc_mcontext.fpregs);
	memcpy(s->fp, uc->uc_mcontext.fpregs, s->fp_size);
}

static void state_give(const struct state *s, ucontext_t *uc)
{
	memcpy(uc->uc_mcontext.gregs, s->regs, sizeof(s->regs));
	memcpy(uc->uc_mcontext.fpregs, s->fp, s->fp_size);
}

static struct ending ending_of(const siginfo_t *si, const ucontext_t *uc)
{
	struct ending e = {
		.signal = si->si_signo,
		.pc = (uint64_t)uc->uc_mcontext.gregs[REG_RIP],
	};

	if (e.signal == SIGTRAP)
		e.pc--;
	else if (e.signal == SIGSEGV || e.signal == SIGBUS)
		e.address = (uint64_t)(uintptr_t)si->si_addr;
	return e;
}

/* The frame of a run's end becomes that of the next one's beginning. */
static void advance(const siginfo_t *si, ucontext_t *uc)
{
	struct ending e = ending_of(si, uc);
	greg_t segments = uc->uc_mcontext.gregs[REG_CSGSFS];

	if (e.signal == SIGALRM && (!run.begun || ++run.ticks < TICKS))
		return;
	if (!run.begun) {
		state_take(&run.host, uc);
		run.guest = run.host;
	} else {
		state_take(&run.guest, uc);
	}
	fp_normalize(&run.guest);
	run.ticks = 0;
	if (run.step(run.ctx, run.begun ? &e : NULL, &run.guest)) {
		run.begun = true;
		run.guest.regs[REG_CSGSFS] = segments;
		state_give(&run.guest, uc);
		return;
	}
	run.begun = false;
	state_give(&run.host, uc);
}

/*
 * Thread-local memory is another one's until the base is ours again, so nothing
 * here may use it before: no stack protector, no sanitizer.
 */
__attribute__((no_sanitize("address", "undefined"), no_stack_protector))
static void handler(int sig, siginfo_t *si, void *uc)
{
	uint64_t fs;

	__asm__ volatile("rdfsbase %0" : "=r"(fs));
	__asm__ volatile("wrfsbase %0" : : "r"(run.host_fs) : "memory");
	if (run.begun)
		run.guest.fs = fs;
	advance(si, uc);
	fs = run.begun ? run.guest.fs : run.host_fs;
	__asm__ volatile("wrfsbase %0" : : "r"(fs) : "memory");
}

enum { SIGNALS = 6 };
static const int signals[SIGNALS] = {
	SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGALRM
};

static void handlers_set(struct sigaction *old)
{
	struct sigaction sa = {
		.sa_sigaction = handler,
		.sa_flags = SA_SIGINFO | SA_ONSTACK,
	};

	sigfillset(&sa.sa_mask);
	for (int i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &sa, &old[i]);
}

int runner_run(runner_step *step, void *ctx)
{
	struct itimerval clock = { { 0, TICK_US }, { 0, TICK_US } }, none = { 0 };
	stack_t stack = { .ss_size = HANDLER_STACK }, old_stack;
	struct sigaction old[SIGNALS];

	if (!(getauxval(AT_HWCAP2) & HAS_FSGSBASE))
		return fail(ENOTSUP, "this machine cannot change the base of fs");
	stack.ss_sp = mmap(NULL, HANDLER_STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, &old_stack))
		return fail(errno, "a stack for signals");
	parts_find();
	__asm__ volatile("rdfsbase %0" : "=r"(run.host_fs));
	run.step = step;
	run.ctx = ctx;
	handlers_set(old);
	setitimer(ITIMER_REAL, &clock, NULL);
	__asm__ volatile("int3" : : : "memory");
	setitimer(ITIMER_REAL, &none, NULL);
	for (int i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &old[i], NULL);
	sigaltstack(&old_stack, NULL);
	munmap(stack.ss_sp, HANDLER_STACK);
	return 0;
}

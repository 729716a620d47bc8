/* SPDX-License-Identifier: MIT */
/*
 * runner: run a piece of code from any state of the machine, until control
 * leaves it; which state has it left?
 *
 * No code is needed around the piece: all that it may be left for is filled
 * with breakpoints or cannot be executed, so that leaving it is a signal. The
 * signal's frame holds the whole state (vector registers as well), the handler
 * looks at it, and by returning starts the next run from the state that it
 * wrote into the frame. One signal and one return per run, nothing else.
 */
#ifndef TESTS_FUZZ_RUNNER_H
#define TESTS_FUZZ_RUNNER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

enum {
	RUNNER_FP_MAX = 4096,	/* bytes of vector state that are kept */
	RUNNER_FLAGS = 0xcd5,	/* status flags and direction */
};

/* What a thread has. */
struct state {
	greg_t regs[NGREG];	/* of these the 16 general ones, RIP and EFL */
	uint64_t fs;		/* base of the thread's own memory */
	size_t fp_size;
	uint8_t fp[RUNNER_FP_MAX] __attribute__((aligned(64)));
};

/* How a run ended: by which signal, and where. */
struct ending {
	int signal;		/* SIGALRM: it did not end */
	uint64_t pc;		/* of the instruction; at a breakpoint: its own */
	uint64_t address;	/* of a memory fault, else 0 */
};

/*
 * Start runs until `step` says false. It is called in a signal handler: with
 * NULL before the first run, then with how the last one ended and the state
 * that it left; it writes the state in which the next one begins (at its RIP).
 */
typedef bool runner_step(void *ctx, const struct ending *, struct state *);

/* 0, or -ENOTSUP with a message where this machine cannot do it. */
int runner_run(runner_step *step, void *ctx);

/* Random contents of all vector and x87 registers, nothing pending and all
 * exceptions masked. */
void runner_vectors(struct state *, uint64_t (*random)(void));

#endif

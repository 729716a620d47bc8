/* SPDX-License-Identifier: MIT */
/* handlers: what does a process do with the signals that it handles? The kernel
 * tells that the process itself only. */
#ifndef INJECTOR_HANDLERS_H
#define INJECTOR_HANDLERS_H

#include "injector/modules/modules.h"
#include "injector/ptrace/target.h"

/* A mask of signals: bit n - 1 for signal n. */
#define HANDLERS_FAULTS (1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGFPE - 1))

/*
 * Of the signals that it handles, those whose handler can make them good. One that
 * the kernel forgets as it is called (SA_RESETHAND) writes a last word: such are no
 * faults that the program lives by. A thread is borrowed to ask, if there are any;
 * what it cannot be asked is taken for good.
 */
uint64_t handlers_caught(struct target *, struct modules *);

#endif

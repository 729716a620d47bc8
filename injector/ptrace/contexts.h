/* SPDX-License-Identifier: MIT */
/*
 * contexts: what signal handlers have interrupted, wherever in a process it is kept: on a stack
 * that no thread is on at the moment, as where a handler switches stacks, or in a copy of its
 * ucontext_t. All private memory that can be written is read, while the process runs: so a context
 * that does not go on meanwhile is found.
 */
#ifndef INJECTOR_CONTEXTS_H
#define INJECTOR_CONTEXTS_H

#include "injector/ptrace/target.h"

/*
 * Is there one whose PC `wanted` is true of? 0: none. 1: one is, or was, for what a handler has
 * left on a stack stays there until something else is written. -E2BIG: there is more memory than
 * is looked through; -EAGAIN: some is swapped out, or could not be read.
 */
int contexts_search(const struct target *, bool (*wanted)(void *ctx, raddr_t pc), void *ctx);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tids: where does a thread of the target keep its own id?
 *
 * The payload wants the id at a thread's first call, when to ask the kernel for
 * it may be deadly: the process may have installed a seccomp filter by then. And
 * where it has no thread-local storage, it knows threads by it.
 *
 * The C library has the id in the thread's control block, at a place that is
 * written down nowhere; or a language's runtime has it that makes threads itself
 * (injector/ptrace/threads.h). So: where all threads have their ids, or unknown. Of threads
 * of such a runtime one is looked at here, and all when they are stopped (commit).
 */
#ifndef INJECTOR_TIDS_H
#define INJECTOR_TIDS_H

#include "injector/ptrace/threads.h"

/* To be asked while the thread is stopped. */
struct tids_of tids_note(const struct target *, pid_t tid, raddr_t tp);
/* Is there a C library's control block where the thread pointer says? That has a word with its own
 * address: its start, or the head of the list of robust mutexes, of which a thread holds none as
 * a rule. */
bool tids_has_block(const struct target *, raddr_t tp);
/* Of any C library that is in the list, if the thread has such a block. As thread_runtime.ids. */
uint64_t tids_any(struct target *, struct tids_of *, int patience);

#endif

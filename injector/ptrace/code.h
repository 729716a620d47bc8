/* SPDX-License-Identifier: MIT */
/*
 * code: bytes of a mapped file, as a process has them in memory.
 *
 * A read through /proc/PID/mem holds the lock of the target's mappings for each page,
 * and until the disk has sent it. If inject loses the processor just then, the target maps
 * nothing until inject has it again, which may take long for a thread of class idle
 * (pace.h). So only pages that the process has copies of its own of are read there, and
 * the others where they come from.
 */
#ifndef INJECTOR_CODE_H
#define INJECTOR_CODE_H

#include "injector/proc/procfs.h"
#include "injector/ptrace/target.h"

struct code {
	const struct target *target;
	raddr_t start;
	uint64_t offset;	/* of that in the file */
	int file, pagemap;	/* -1: all is read from memory */
};

void code_open(const struct target *, const struct mapping *, struct code *ret);
void code_close(struct code *);
/* `n` bytes at `at`, which lie in the mapping. */
int code_read(const struct code *, raddr_t at, void *buf, size_t n);

#endif

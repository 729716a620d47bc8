/* SPDX-License-Identifier: MIT */
/*
 * x86_64/stand: what has a stub pushed where a thread stands in it?
 *
 * Each answer is a row of unwind information in stand.S. The shapes are those that
 * code.c and code_relocate.c write: a recording call, and a relocated call, which
 * pushes the return address.
 */
#ifndef ARCH_X86_64_STAND_H
#define ARCH_X86_64_STAND_H

#define STAND_BARE 0
#define STAND_RCX 1
#define STAND_RAX_RCX 2
#define STAND_RETURN 3		/* the return address, or what is to become it */
#define STAND_RAX_RETURN 4
/* The first three where the stack pointer was lowered by the red zone before. */
#define STAND_BELOW 5
/* And where the function is about to leave. */
#define STAND_LEAVES 8

/* Offsets in a recording call: where %rcx is pushed, and %rax, and, before its end, where
 * only %rcx is again; and its size, which is another where it gives a way back. */
#define RECORD_RCX 1
#define RECORD_RAX 2
#define RECORD_POPPED 1
#define RECORD_SIZE 33
#define RECORD_RETURN_SIZE 40
/* Bytes before one that lower the stack pointer by the red zone, and that raise it behind it. */
#define ZONE 128
#define RECORD_LOWERED 5
#define RECORD_RAISED 8
/* The same of what pushes a return address. */
#define RETURN_PUSHED 5
#define RETURN_RAX 7
#define RETURN_POPPED 20

#ifndef __ASSEMBLER__

#include "payload/stub.h"

static inline int stand_of_record(unsigned int at, unsigned int size)
{
	if (at < RECORD_RCX || at >= size)
		return STAND_BARE;
	return at < RECORD_RAX || at >= size - RECORD_POPPED ? STAND_RCX : STAND_RAX_RCX;
}

/* A row of stand.S for `at` bytes into what a row of the note stands for; -1: not known. */
static inline int stand_of(enum stub_part part, unsigned int at)
{
	switch (part) {
	case STUB_COPY:
		return STAND_BARE;
	case STUB_RECORD:
		return stand_of_record(at, RECORD_SIZE);
	case STUB_RECORD_BELOW:
		return at < RECORD_LOWERED ? STAND_BARE :
			STAND_BELOW + stand_of_record(at - RECORD_LOWERED, RECORD_SIZE);
	case STUB_LEAVE:
		return STAND_LEAVES;
	case STUB_RECORD_LEAVE:
		return STAND_LEAVES + stand_of_record(at, RECORD_SIZE);
	case STUB_RECORD_RETURN:
		return STAND_LEAVES + stand_of_record(at, RECORD_RETURN_SIZE);
	case STUB_CALL:
		return at < RETURN_PUSHED ? STAND_BARE :
			at < RETURN_RAX || at >= RETURN_POPPED ? STAND_RETURN : STAND_RAX_RETURN;
	default:
		return -1;
	}
}

#endif
#endif

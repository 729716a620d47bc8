/* SPDX-License-Identifier: MIT */
/*
 * arm64/stand: what has a stub pushed where a thread stands in it?
 *
 * Each answer is a row of unwind information in stand.S, by its distance from the first.
 * The shapes are those that code.c and code_relocate.c write. A relocated call pushes
 * nothing: it sets x30, which the function has kept elsewhere by then.
 */
#ifndef ARCH_ARM64_STAND_H
#define ARCH_ARM64_STAND_H

#define STAND_BARE 0
#define STAND_X17_X30 4
#define STAND_ALL 8		/* and x16 */
/* The same where the function is about to leave. */
#define STAND_LEAVES 12
/* And where the stack pointer was lowered by ZONE before. */
#define STAND_BELOW 24

/* What a recording call pushes: x17, x30 and x16, below 16 bytes that are left alone: code
 * of Go's keeps the frame pointer of its caller right below the stack pointer. */
#define RECORD_PUSHED 48
/* Offsets in it: behind the push of x17 and x30, behind that of x16, and where only those
 * two are pushed again; and its size. */
#define RECORD_X17_X30 4
#define RECORD_ALL 8
#define RECORD_X16_BACK 56
#define RECORD_SIZE 60
/* By so much the call of a place within a function lowers the stack pointer first, by one
 * instruction; those bytes are the function's. */
#define ZONE 16
#define RECORD_LOWERED 4

#ifndef __ASSEMBLER__

#include "payload/stub.h"

static inline int stand_of_record(unsigned int at)
{
	if (at < RECORD_X17_X30 || at >= RECORD_SIZE)
		return STAND_BARE;
	return at < RECORD_ALL || at >= RECORD_X16_BACK ? STAND_X17_X30 : STAND_ALL;
}

/* A row of stand.S for `at` bytes into what a row of the note stands for; -1: not known. */
static inline int stand_of(enum stub_part part, unsigned int at)
{
	switch (part) {
	case STUB_COPY:
	case STUB_CALL:
		return STAND_BARE;
	case STUB_RECORD:
		return stand_of_record(at);
	case STUB_RECORD_BELOW:
		return at < RECORD_LOWERED ? STAND_BARE :
			STAND_BELOW + stand_of_record(at - RECORD_LOWERED);
	case STUB_LEAVE:
		return STAND_LEAVES;
	case STUB_RECORD_LEAVE:
		return STAND_LEAVES + stand_of_record(at);
	default:
		return -1;
	}
}

#endif
#endif

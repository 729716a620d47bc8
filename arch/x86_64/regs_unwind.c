/* SPDX-License-Identifier: MIT */
/*
 * regs_unwind, x86-64: no return address is signed, and most code that has no table keeps a
 * frame.
 */
#include "arch/regs.h"

const uint8_t regs_sign_op;
const uint8_t regs_above_op;
const bool regs_frames_end = true;

uint64_t regs_signed_bits(pid_t tid)
{
	return 0;
}

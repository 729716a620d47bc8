/* SPDX-License-Identifier: MIT */
/*
 * regs_unwind, arm64: the bits of pointer authentication, and where a stack ends.
 *
 * Where the processor has it, a function may sign its return address as it begins, and lets go
 * of the signature as it ends: what lies on the stack meanwhile is no address. Which bits the
 * signature takes depends on how many an address has. Source: Documentation/arch/arm64/
 * pointer-authentication.rst; struct user_pac_mask, which is there if the processor has it
 * and the kernel was built for it.
 */
#include <asm/ptrace.h>
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "arch/regs.h"

/* DW_CFA_AARCH64_negate_ra_state: DWARF for the Arm 64-bit Architecture, 4.3. */
const uint8_t regs_sign_op = 0x2d;
/* DW_CFA_offset_extended_sf. glibc's lazy resolver has it, for its unwind information forgets the
 * 16 bytes that the linkage table has pushed (sysdeps/aarch64/dl-trampoline.S, 2.36). */
const uint8_t regs_above_op = 0x11;
/* src/aarch64/Gstep.c of libunwind: 0 for any frame that it fails to step over. */
const bool regs_frames_end = false;

uint64_t regs_signed_bits(pid_t tid)
{
	struct user_pac_mask mask;
	struct iovec iov = { &mask, sizeof(mask) };

	return ptrace(PTRACE_GETREGSET, tid, NT_ARM_PAC_MASK, &iov) == 0 &&
		iov.iov_len == sizeof(mask) ? mask.insn_mask : 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * stand: how does an unwinder come from a stub to the function that it stands for?
 *
 * Of each byte of `stands` the row of unwind information is that of a thread in a stub
 * that has pushed so much (stand.h). An answer to an unwinder names this table, and
 * says that the code it is about begins so many bytes before the thread's PC, as if
 * these were those of `stands`. A stub is a frame of its own, like a signal's: its
 * caller has not called it, but stands AT the instruction that the stub does for it.
 * Which one, no table knows: it is what the answer has for the base of text-relative
 * addresses, less one, for an address of zero is none. All other registers are the
 * function's.
 *
 * Where a function is about to leave, its own table still says of the registers that
 * it has popped that they lie below the stack pointer, where the recording call has
 * pushed others since. So there the stub's caller is the function's: all that it is to
 * find again it has again.
 */
#include "arch/x86_64/stand.h"

#define DW_CFA_val_expression 0x16
#define RIP 16
#define DW_OP_GNU_encoded_addr 0xf1
#define TEXTREL_UDATA2 0x22

	.text
	.globl	stands
	.hidden	stands
	.type	stands, @function
stands:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_escape DW_CFA_val_expression, RIP, 4, DW_OP_GNU_encoded_addr, TEXTREL_UDATA2, 1, 0
	.cfi_def_cfa_offset 0
	int3				/* STAND_BARE */
	.cfi_def_cfa_offset 8
	.cfi_offset rcx, -8
	int3				/* STAND_RCX */
	.cfi_def_cfa_offset 16
	.cfi_offset rax, -16
	int3				/* STAND_RAX_RCX */
	.cfi_def_cfa_offset 8
	.cfi_restore rax
	.cfi_restore rcx
	int3				/* STAND_RETURN */
	.cfi_def_cfa_offset 16
	.cfi_offset rax, -16
	int3				/* STAND_RAX_RETURN */
	.cfi_def_cfa_offset ZONE
	.cfi_restore rax
	int3				/* STAND_BELOW + STAND_BARE */
	.cfi_def_cfa_offset ZONE + 8
	.cfi_offset rcx, -ZONE - 8
	int3				/* + STAND_RCX */
	.cfi_def_cfa_offset ZONE + 16
	.cfi_offset rax, -ZONE - 16
	int3				/* + STAND_RAX_RCX */
	.cfi_endproc

	.cfi_startproc
	int3				/* STAND_LEAVES + STAND_BARE */
	.cfi_def_cfa_offset 16
	.cfi_offset rcx, -16
	int3				/* + STAND_RCX */
	.cfi_def_cfa_offset 24
	.cfi_offset rax, -24
	int3				/* + STAND_RAX_RCX */
	.cfi_endproc
	.size	stands, . - stands

	.section .note.GNU-stack, "", %progbits

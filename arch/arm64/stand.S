/* SPDX-License-Identifier: MIT */
/*
 * stand: how does an unwinder come from a stub to the function that it stands for?
 *
 * Of each word of `stands` the row of unwind information is that of a thread in a stub
 * that has pushed so much (stand.h). An answer to an unwinder names this table, and
 * says that the code it is about begins so many bytes before the thread's PC, as if
 * these were those of `stands`. A stub is a frame of its own, like a signal's: its
 * caller has not called it, but stands AT the instruction that the stub does for it.
 * Which one, no table knows: it is what the answer has for the base of text-relative
 * addresses, less one, for an address of zero is none. All other registers are the
 * function's, x30 too; so the address that the thread goes back to has a column of its own,
 * as in a signal's frame (libgcc/config/aarch64/linux-unwind.h).
 *
 * Where a function is about to leave, its own table still says of the registers that
 * it has taken back that they lie below the stack pointer, where the recording call has
 * pushed others since. So there the stub's caller is the function's: all that it is to
 * find again it has again.
 */
#include "arch/arm64/stand.h"

#define DW_CFA_val_expression 0x16
#define PC_COLUMN 96
#define DW_OP_GNU_encoded_addr 0xf1
#define TEXTREL_UDATA2 0x22

	.macro	begins_to_stand
	.cfi_startproc
	.cfi_signal_frame
	.cfi_return_column PC_COLUMN
	.cfi_escape DW_CFA_val_expression, PC_COLUMN
	.cfi_escape 4, DW_OP_GNU_encoded_addr, TEXTREL_UDATA2, 1, 0
	.endm

	.text
	.balign	4
	.globl	stands
	.hidden	stands
	.type	stands, %function
stands:
	begins_to_stand
	brk	#0				/* STAND_BARE */
	.cfi_def_cfa_offset RECORD_PUSHED
	.cfi_rel_offset x17, 0
	.cfi_rel_offset x30, 8
	brk	#0				/* STAND_X17_X30 */
	.cfi_rel_offset x16, 16
	brk	#0				/* STAND_ALL */
	.cfi_endproc

	.cfi_startproc
	brk	#0				/* STAND_LEAVES + STAND_BARE */
	.cfi_def_cfa_offset RECORD_PUSHED
	.cfi_rel_offset x17, 0
	.cfi_rel_offset x30, 8
	brk	#0				/* + STAND_X17_X30 */
	.cfi_rel_offset x16, 16
	brk	#0				/* + STAND_ALL */
	.cfi_endproc

	begins_to_stand
	.cfi_def_cfa_offset ZONE
	brk	#0				/* STAND_BELOW + STAND_BARE */
	.cfi_def_cfa_offset ZONE + RECORD_PUSHED
	.cfi_rel_offset x17, 0
	.cfi_rel_offset x30, 8
	brk	#0				/* + STAND_X17_X30 */
	.cfi_rel_offset x16, 16
	brk	#0				/* + STAND_ALL */
	.cfi_endproc
	.size	stands, . - stands

	.section .note.GNU-stack, "", %progbits

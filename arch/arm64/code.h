/* SPDX-License-Identifier: MIT */
/* arm64/code: what the files of the pure half share: fields of a word. */
#ifndef ARCH_ARM64_CODE_H
#define ARCH_ARM64_CODE_H

#include "arch/arch.h"

#include <string.h>

enum {
	ARM64_NOP = 0xd503201f,
	ARM64_LR = 30,		/* x30 */
	ARM64_SP = 31,		/* sp or xzr */
};

#define ARM64_BRK(number) (0xd4200000u | (uint32_t)(number) << 5)

/* Instructions are little-endian whatever the data is. */
static inline uint32_t arm64_word(const uint8_t *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void arm64_put_word(uint8_t *p, uint32_t word)
{
	p[0] = word;
	p[1] = word >> 8;
	p[2] = word >> 16;
	p[3] = word >> 24;
}

/* The classes that have a PC-relative operand. */
static inline bool arm64_is_b(uint32_t w)
{
	return (w & 0xfc000000) == 0x14000000;
}

static inline bool arm64_is_bl(uint32_t w)
{
	return (w & 0xfc000000) == 0x94000000;
}

/* b.cond and bc.cond */
static inline bool arm64_is_bcond(uint32_t w)
{
	return (w & 0xff000000) == 0x54000000;
}

static inline bool arm64_is_cbz(uint32_t w)
{
	return (w & 0x7e000000) == 0x34000000;
}

static inline bool arm64_is_tbz(uint32_t w)
{
	return (w & 0x7e000000) == 0x36000000;
}

static inline bool arm64_is_adr(uint32_t w)
{
	return (w & 0x9f000000) == 0x10000000;
}

static inline bool arm64_is_adrp(uint32_t w)
{
	return (w & 0x9f000000) == 0x90000000;
}

/* ldr, ldrsw, prfm with a label; 11 with V set does not exist. */
static inline bool arm64_is_literal(uint32_t w)
{
	return (w & 0x3b000000) == 0x18000000 && (w & 0xc4000000) != 0xc4000000;
}

/* Conditions 1110 and 1111 both mean always. */
static inline bool arm64_is_always(uint32_t w)
{
	return arm64_is_bcond(w) && (w & 14) == 14;
}

/* Where clang and gcc end what is never to go on. Other numbers tell something to a handler, or
 * are a debugger's or the kernel's breakpoints, which are known by their address. */
static inline bool arm64_is_trap(uint32_t w)
{
	return w == ARM64_BRK(1) || w == ARM64_BRK(1000);
}

/* code_word.c */

/* The same conditional branch with the condition inverted, and without its
 * destination. Not for arm64_is_always(). */
uint32_t arm64_invert(uint32_t w);
/* `value` as a field of `bits` bits at `shift`, if it fits: true. */
bool arm64_field(int64_t value, unsigned int bits, unsigned int shift,
		 uint32_t *word);
/* b, or with `link` bl. 0, or -ERANGE. */
int arm64_branch(raddr_t from, raddr_t to, bool link, uint32_t *ret);

/* code_decode.c */
int arm64_decode(const uint8_t *p, size_t n, raddr_t pc, struct insn *ret);

/* code_goal.c: see struct arch. */
enum jump_by arm64_jump_by(const uint8_t *p, size_t before, const struct insn *in, raddr_t *base);

/* code_stack.c: see struct arch. */
uint64_t arm64_faults(const uint8_t *p, const struct insn *in);
int arm64_lowers_stack(const uint8_t *p, const struct insn *in, bool zone);
int arm64_stack_check(const uint8_t *p, size_t n, bool *loads);
bool arm64_reads_g(const uint8_t *p, size_t n);

/* code_tight.c: see struct arch. */
int arm64_record_tight(raddr_t at, const struct record_call *, uint8_t *out);
int32_t arm64_g_place(const uint8_t *p, size_t n);
enum spared arm64_spared(const uint8_t *p, const struct insn *in);
bool arm64_needs_spared(const uint8_t *p, size_t n);
bool arm64_keeps_g(const uint8_t *p);

/* code_linkage.c: see struct arch. */
size_t arm64_linkage(const uint8_t *p, size_t n, raddr_t pc, raddr_t *slot);

/* code_relocate.c */
int arm64_relocate(const uint8_t *p, const struct insn *in, raddr_t to,
		   uint8_t *out, size_t cap);

#endif

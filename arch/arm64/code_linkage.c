/* SPDX-License-Identifier: MIT */
/* arm64/code_linkage: is this a stub of the linkage table? */
#include "arch/arm64/code.h"

enum {
	ADRP_X16 = 16,			/* its register; the rest: arm64_is_adrp */
	LDR_X17_X16 = 0xf9400211,	/* ldr x17, [x16, #low] */
	ADD_X16_X16 = 0x91000210,	/* add x16, x16, #low */
	AUTIA1716 = 0xd503219f,
	BR_X17 = 0xd61f0220,
	BRAA_X17_X16 = 0xd71f0a30,
};

/* The number of a load or an addition, in its bits 10 to 21. */
#define NUMBER(w) ((w) >> 10 & 0xfff)
#define WITHOUT_NUMBER(w) ((w) & 0xffc003ff)

/*
 *	bti	c
 *	adrp	x16, slot
 *	ldr	x17, [x16, #:lo12:slot]
 *	add	x16, x16, #:lo12:slot
 *	autia1716
 *	br	x17			or both in one: braa x17, x16
 *
 * Without the landing pad where those are not in use, without the authentication where it
 * is not, and without the addition where the word is filled from the start: only the code
 * that binds a symbol asks for its address.
 */
size_t arm64_linkage(const uint8_t *p, size_t n, raddr_t pc, raddr_t *slot)
{
	uint32_t w[7] = { 0 };		/* the last one is never set */
	size_t at = 0;
	struct insn in;

	for (size_t i = 0; i + 1 < ARRAY_SIZE(w) && 4 * i + 4 <= n; i++)
		w[i] = arm64_word(p + 4 * i);
	if (n < 4 || arm64_decode(p, n, pc, &in))
		return 0;
	if (in.flags & INSN_LANDING)
		at++;
	if (!arm64_is_adrp(w[at]) || (w[at] & 31) != ADRP_X16 ||
	    arm64_decode(p + 4 * at, n - 4 * at, pc + 4 * at, &in))
		return 0;
	uint32_t load = w[++at];

	if (WITHOUT_NUMBER(load) != LDR_X17_X16)
		return 0;
	*slot = in.ref + 8 * NUMBER(load);
	at++;
	if (WITHOUT_NUMBER(w[at]) == ADD_X16_X16 && NUMBER(w[at]) == 8 * NUMBER(load))
		at++;
	if (w[at] == AUTIA1716)
		at++;
	return w[at] == BR_X17 || w[at] == BRAA_X17_X16 ? 4 * at + 4 : 0;
}

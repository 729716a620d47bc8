/* SPDX-License-Identifier: MIT */
/* usdt: places for tracers, and their semaphores. */
#ifndef TESTS_VICTIMS_USDT_H
#define TESTS_VICTIMS_USDT_H

/* As tracers' headers make them. */
#define SEMAPHORE(name) \
	__extension__ unsigned short name __attribute__((unused, section(".probes")))

#ifdef __x86_64__
#define NOP5 ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
#define NOP10 ".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00\n"
#else
#define NOP5 ""
#define NOP10 ""
#endif

/* By hand, for sys/sdt.h has one form only. */
#define PLACE(name, semaphore, nops, value) __asm__ volatile( \
	"990: nop\n" nops \
	".pushsection .note.stapsdt,\"\",\"note\"\n" \
	".balign 4\n" \
	".4byte 992f-991f, 994f-993f, 3\n" \
	"991: .asciz \"stapsdt\"\n" \
	"992: .balign 4\n" \
	"993: .8byte 990b\n" \
	".8byte _.stapsdt.base\n" \
	".8byte " semaphore "\n" \
	".asciz \"us\"\n" \
	".asciz \"" name "\"\n" \
	".asciz \"8@%0\"\n" \
	"994: .balign 4\n" \
	".popsection\n" \
	".ifndef _.stapsdt.base\n" \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	".weak _.stapsdt.base\n" \
	".hidden _.stapsdt.base\n" \
	"_.stapsdt.base: .space 1\n" \
	".size _.stapsdt.base, 1\n" \
	".popsection\n" \
	".endif\n" : : "nor" ((unsigned long)(value)))

#endif

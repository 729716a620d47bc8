/* SPDX-License-Identifier: MIT */
/* insns: x86-64 instructions by their bytes, and what tests ask of a probe. */
#ifndef TESTS_PATCH_INSNS_H
#define TESTS_PATCH_INSNS_H

#include "tests/patch/module.h"

/* Instructions, by their bytes. */
#define PUSH_RBX 0x53
#define POP_RBX 0x5b
#define CMC 0xf5
#define RET 0xc3
#define NOP 0x90
#define INT3 0xcc
#define XOR_EAX 0x31, 0xc0
#define MOV_EAX_1 0xb8, 1, 0, 0, 0
#define MOV_RDI_RAX 0x48, 0x89, 0xf8
#define TEST_EDI 0x85, 0xff
#define ENDBR64 0xf3, 0x0f, 0x1e, 0xfa
#define SYSCALL 0x0f, 0x05
#define CALL_RAX 0xff, 0xd0
#define JMP_RAX 0xff, 0xe0
#define JMP_RBX_0 0xff, 0x23
#define NOTRACK_JMP_RAX 0x3e, 0xff, 0xe0
#define NOP3 0x0f, 0x1f, 0x00
#define NOP5 0x0f, 0x1f, 0x44, 0x00, 0x00
#define JE 0x74
#define JNE 0x75
#define JMP8 0xeb
#define ADD_RSP_40 0x48, 0x83, 0xc4, 0x28
#define LEAVE 0xc9

/* A function like most: its middle is 32 bytes that nothing is known about. */
static inline void put_middle(void)
{
	for (int i = 0; i < 16; i++)
		put(MOV_RDI_RAX);
}

static inline const struct site *entry_site(const struct probe *p)
{
	return &p->sites[p->nsites - 1];
}

static inline struct placed_site *placed_entry(void)
{
	return &m.probes[0].sites[m.probes[0].nsites - 1];
}

static inline bool refused(enum refusal why)
{
	if (probe()->refusal == why)
		return true;
	fprintf(stderr, "refusal is %s, not %s\n", refusal_word(probe()->refusal),
		refusal_word(why));
	return false;
}

static inline bool entry_only(enum refusal why)
{
	if (!probe()->refusal && probe()->entry_only == why)
		return true;
	fprintf(stderr, "refusal %s, entry-only %s, not %s\n",
		refusal_word(probe()->refusal), refusal_word(probe()->entry_only),
		refusal_word(why));
	return false;
}

#endif

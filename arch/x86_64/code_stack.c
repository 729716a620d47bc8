/* SPDX-License-Identifier: MIT */
/*
 * x86_64/code_stack: does a function begin with asking whether its goroutine's
 * stack has room?
 *
 * What Go's compiler has made since 1.17, when g came to be kept in %r14, for a
 * frame that is small, larger, or huge:
 *
 *	cmp 0x10(%r14), %rsp		jbe grow
 *	lea -N(%rsp), %r12		cmp 0x10(%r14), %r12		jbe grow
 *	mov %rsp, %r12			sub $N, %r12			jb grow
 *					cmp 0x10(%r14), %r12		jbe grow
 *
 * (0x18(%r14) where the runtime is on a stack of the system's.) Assembly that is called
 * as in earlier versions loads %r14 first: mov %fs:G, %r14, or what the linker has made
 * of a table's entry: mov $G, %r14; mov %fs:(%r14), %r14.
 *
 * Methods that the compiler makes to call others, before 1.26, go on, or begin if they
 * have no frame, with asking whether their goroutine panics:
 *
 *	mov 0x20(%r14), %r12		test %r12, %r12			jne ...
 */
#include "arch/x86_64/code.h"

enum { BELOW = 2, NOT_EQUAL = 5, BELOW_OR_EQUAL = 6 };	/* conditions of a branch */

/* The bytes that are left. */
struct bytes {
	const uint8_t *p;
	size_t n;
};

/* Pass over `known` bytes and `any` more; false if others stand there. */
static bool pass_bytes(struct bytes *b, const void *bytes, size_t known, size_t any)
{
	if (b->n < known + any || memcmp(b->p, bytes, known) != 0)
		return false;
	b->p += known + any;
	b->n -= known + any;
	return true;
}

static bool pass_branch(struct bytes *b, uint8_t condition)
{
	const uint8_t near[] = { 0x70 | condition }, far[] = { 0x0f, 0x80 | condition };

	return pass_bytes(b, near, sizeof(near), 1) || pass_bytes(b, far, sizeof(far), 4);
}

static bool pass_huge(struct bytes *b)
{
	return pass_bytes(b, "\x49\x89\xe4\x49\x81\xec", 6, 4) && pass_branch(b, BELOW);
}

static bool pass_load(struct bytes *b)
{
	return pass_bytes(b, "\x64\x4c\x8b\x34\x25", 5, 4) ||
		(pass_bytes(b, "\x49\xc7\xc6", 3, 4) && pass_bytes(b, "\x64\x4d\x8b\x36", 4, 0));
}

int x86_stack_check(const uint8_t *p, size_t n, bool *loads)
{
	struct bytes b = { p, n };

	*loads = pass_load(&b);
	bool lowered = pass_bytes(&b, "\x4c\x8d\x64\x24", 4, 1) ||
		       pass_bytes(&b, "\x4c\x8d\xa4\x24", 4, 4) || pass_huge(&b);

	if (!pass_bytes(&b, lowered ? "\x4d\x3b\x66\x10" : "\x49\x3b\x66\x10", 4, 0) &&
	    !pass_bytes(&b, lowered ? "\x4d\x3b\x66\x18" : "\x49\x3b\x66\x18", 4, 0))
		return 0;
	return pass_branch(&b, BELOW_OR_EQUAL) ? (int)(n - b.n) : 0;
}

bool x86_reads_g(const uint8_t *p, size_t n)
{
	struct bytes b = { p, n };

	return pass_bytes(&b, "\x4d\x8b\x66\x20\x4d\x85\xe4", 7, 0) && pass_branch(&b, NOT_EQUAL);
}

/* cmp %a, %b; jne */
uint16_t x86_equals(const uint8_t *p, const struct insn *compare, const struct insn *branch)
{
	const uint8_t *jump = p + compare->size;
	bool unequal = branch->kind == INSN_BRANCH && (jump[0] == 0x75 ||
		(jump[0] == 0x0f && branch->size > 1 && jump[1] == 0x85));

	if (!unequal || compare->size != 3 || (p[0] & 0xfa) != 0x48 || (p[1] & 0xfd) != 0x39 ||
	    p[2] < 0xc0)
		return 0;
	unsigned int a = (p[2] >> 3 & 7) | (p[0] & 4) << 1, b = (p[2] & 7) | (p[0] & 1) << 3;

	return (uint16_t)(1u << a | 1u << b);
}

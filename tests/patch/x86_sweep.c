/* SPDX-License-Identifier: MIT */
/*
 * Does every x86-64 instruction of real code, relocated, still name the same
 * addresses?
 *
 * It takes the code that is loaded into this very process (libc, capstone and
 * the rest), relocates each instruction, decodes what came out and compares
 * destinations, operands and kinds.
 */
#include "tests/patch/golden.h"

#include <elf.h>
#include <link.h>

enum {
	LIMIT = 1 << 19,	/* bytes of one segment */
	FAR = 64 << 20,		/* from the instruction to its copy */
	MIN_MOVED = 100000,	/* fewer would mean that nothing was tested */
};

static size_t moved, kept, transfers, operands;

/* What the copy amounts to: the last of its instructions, and the first
 * PC-relative operand in it. */
struct summary {
	struct insn last;
	raddr_t ref;
	unsigned int count;
};

static bool summarize(const uint8_t *p, size_t n, raddr_t pc,
		      struct summary *ret)
{
	*ret = (struct summary){ 0 };
	for (size_t i = 0; i < n; i += ret->last.size) {
		if (arch_x86_64.decode(p + i, n - i, pc + i, &ret->last))
			return false;
		if (ret->last.flags & INSN_PCREL && !ret->ref)
			ret->ref = ret->last.ref;
		ret->count++;
	}
	return true;
}

static bool is_same(const struct insn *in, const struct summary *s)
{
	const struct insn *last = &s->last;

	switch (in->kind) {
	case INSN_BRANCH:
		return last->dest == in->dest &&
		       (s->count == 1 ? last->kind == INSN_BRANCH :
					s->count == 3 && last->kind == INSN_JUMP);
	case INSN_CALL:
		return last->kind == INSN_JUMP && last->dest == in->dest &&
		       s->ref == in->pc + in->size;
	case INSN_CALL_INDIRECT:
		return last->kind == INSN_JUMP_INDIRECT &&
		       s->ref == in->pc + in->size &&
		       last->flags == in->flags && last->ref == in->ref;
	default:
		return s->count == 1 && last->kind == in->kind &&
		       last->flags == in->flags && last->ref == in->ref &&
		       last->dest == in->dest;
	}
}

static void check(const uint8_t *p, const struct insn *in)
{
	uint8_t out[ARCH_RELOCATED_MAX];
	raddr_t to = in->pc + FAR;
	struct summary s;
	int n = arch_x86_64.relocate(p, in, to, out, sizeof(out));

	if (n == -ENOTSUP) {
		kept++;
		return;
	}
	moved++;
	transfers += in->kind != INSN_PLAIN;
	operands += !!(in->flags & INSN_PCREL);
	/* Data between the code may name what no displacement reaches. */
	if (n == -ERANGE)
		return;
	if (n > 0 && summarize(out, n, to, &s) && is_same(in, &s))
		return;
	if (golden_failures++ < 10) {
		printf("FAIL kind %u flags %u:\n", in->kind, in->flags);
		golden_print("from", p, in->size);
		golden_print("to  ", out, n);
	}
}

static void sweep(const uint8_t *p, size_t n)
{
	struct insn in;

	for (size_t i = 0; i < n; i += in.size) {
		raddr_t pc = (raddr_t)(uintptr_t)(p + i);

		if (arch_x86_64.decode(p + i, n - i, pc, &in))
			in.size = 1;
		else
			check(p + i, &in);
	}
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && ph->p_flags & PF_X &&
		    ph->p_flags & PF_R)
			sweep((const uint8_t *)(info->dlpi_addr + ph->p_vaddr),
			      MIN(ph->p_memsz, (size_t)LIMIT));
	}
	return 0;
}

int main(void)
{
	if (arch_host() != &arch_x86_64) {
		printf("skipped: no x86-64 code in this process\n");
		return 77;
	}
	dl_iterate_phdr(visit, NULL);
	golden_true("enough", moved >= MIN_MOVED && transfers && operands);
	printf("%zu moved, of them %zu transfers and %zu with operands; "
	       "%zu not to be moved\n", moved, transfers, operands, kept);
	return golden_end();
}

/* SPDX-License-Identifier: MIT */
/*
 * Does no jump touch a restartable sequence, the instruction that begins it, or
 * the signature before its abort address? On this very program: the functions
 * below are its material.
 */
#include "injector/modules/select.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/check.h"

#ifdef __x86_64__

#define FUNC(name) \
	".globl " name "\n.type " name ",@function\n.balign 16\n" name ":\n"
#define END(name) \
	".size " name ",.-" name "\n.balign 16\n"
#define SEQUENCE(start, end, abort) \
	".pushsection __rseq_cs,\"aw\",@progbits\n.balign 32\n" \
	".long 0, 0\n.quad " start ", " end " - " start ", " abort "\n" \
	".popsection\n"
#define MIDDLE ".rept 8\nmov %rdi,%rax\n.endr\n"

__asm__(".text\n"
	/* The same as the next, without a sequence. */
	FUNC("seq_free") "mov $1,%eax\nmov %rdi,%rdx\n" MIDDLE
	"mov $1,%eax\nmov %rdi,%rcx\nret\n" END("seq_free")

	/* The sequence begins within the entry's window. */
	FUNC("seq_entry") "mov %edi,%eax\n1: mov %rdi,%rdx\n" MIDDLE "2:\n"
	"mov $1,%eax\nmov %rdi,%rcx\nret\n" END("seq_entry")
	SEQUENCE("1b", "2b", "seq_aborted")

	/* A window could end just where it begins: its last instruction would
	 * tell the kernel of it. */
	FUNC("seq_armed") "mov %rdi,-8(%rsp)\n1: mov %rdi,%rdx\n" MIDDLE "2:\n"
	"mov $1,%eax\nmov %rdi,%rcx\nret\n" END("seq_armed")
	SEQUENCE("1b", "2b", "seq_aborted")

	/* Here that instruction has another before it, which makes room. */
	FUNC("seq_behind") "mov $1,%eax\nmov %rdi,-8(%rsp)\n1: mov %rdi,%rdx\n"
	MIDDLE "2: mov $1,%eax\nmov %rdi,%rcx\nret\n" END("seq_behind")
	SEQUENCE("1b", "2b", "seq_aborted")

	/* It ends at the return, with no padding behind: room for a jump is
	 * inside it alone. */
	FUNC("seq_exit") "mov $1,%eax\nmov %rdi,-8(%rsp)\n1: mov %rdi,%rdx\n"
	MIDDLE "2: ret\nhlt\n" END("seq_exit")
	SEQUENCE("1b", "2b", "seq_aborted")

	/* A signature that is an instruction in the entry's window. */
	FUNC("seq_signed") "mov %edi,%eax\n.long 0x00401f0f\n"
	"seq_aborted: mov %rdi,%rdx\n" MIDDLE "ret\n" END("seq_signed"));

static bool touches(const struct symbols *s, raddr_t at, size_t n)
{
	for (size_t i = 0; i < s->nrseqs; i++)
		if (n && range_overlaps(s->rseqs[i], (struct range){ at, at + n }))
			return true;
	return false;
}

/* How many sites touch what they must not. */
static size_t bad_sites(const struct symbols *s, const struct plan *plan)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->nprobes; i++)
		for (size_t j = 0; j < plan->probes[i].nsites; j++) {
			const struct site *site = &plan->probes[i].sites[j];

			n += touches(s, site->pc, site->window + site->dead) ||
				touches(s, site->hole.pc, site->hole.len) ||
				touches(s, site->jump.pc, site->jump.len);
		}
	return n;
}

static const struct probe *probe_of(const struct plan *plan, const char *name)
{
	static const struct probe no;

	for (size_t i = 0; i < plan->nprobes; i++)
		if (strcmp(plan->probes[i].func->name, name) == 0)
			return &plan->probes[i];
	failures++;
	printf("%s is not selected\n", name);
	return &no;
}

static bool is_whole(const struct plan *plan, const char *name)
{
	const struct probe *p = probe_of(plan, name);

	return p->nsites && !p->refusal && !p->entry_only;
}

static void test(struct modules *m)
{
	struct pattern include[1];
	struct select_options o = { .include = include, .ninclude = 1 };
	struct selection sel;
	const struct plan *careless;

	CHECK(pattern_parse("seq_*@exe", include) == 0);
	CHECK(select_functions(m, &o, &sel) == 0 && sel.n == 1);
	const struct selected *s = &sel.v[0];
	const struct symbols *syms = s->module->symbols;

	/* Four sequences have one signature in common. */
	CHECK(syms->nrseqs == 5);
	CHECK(bad_sites(syms, s->plan) == 0);
	CHECK(is_whole(s->plan, "seq_free"));
	CHECK(probe_of(s->plan, "seq_entry")->refusal);
	CHECK(probe_of(s->plan, "seq_armed")->refusal);
	/* The bytes behind its return are kept, those before it left alone. */
	CHECK(is_whole(s->plan, "seq_exit"));
	CHECK(probe_of(s->plan, "seq_exit")->sites[0].tactic == TACTIC_PUN);
	/* These have room elsewhere. */
	CHECK(is_whole(s->plan, "seq_behind"));
	CHECK(is_whole(s->plan, "seq_signed"));
	/* The material has teeth: a plan that does not know of them touches them. */
	struct plan_options none = { .hosts = true };

	CHECK(plan_make(s->plan->arch, syms, s->funcs, s->n, &none, &careless) == 0);
	CHECK(bad_sites(syms, careless) >= 4);
	CHECK(is_whole(careless, "seq_armed") && is_whole(careless, "seq_exit"));
	CHECK(is_whole(careless, "seq_signed"));
	plan_free(careless);
	select_clear(&sel);
	pattern_clear(include);
}

int main(void)
{
	struct modules m = { 0 };

	if (modules_open_process(getpid(), &m)) {
		printf("%s\n", fail_text());
		return 1;
	}
	test(&m);
	modules_close(&m);
	return failures != 0;
}

#else

int main(void)
{
	printf("skipped: the material is x86-64 code\n");
	return 77;
}

#endif

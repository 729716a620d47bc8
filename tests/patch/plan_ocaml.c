/* SPDX-License-Identifier: MIT */
/*
 * What may be displaced in a function of OCaml's, and how is it recorded? One test per
 * situation; each fails if the rule behind it is gone.
 */
#include "tests/patch/insns.h"
#include "tests/patch/rules.h"

#define SUB_RSP_24 0x48, 0x83, 0xec, 0x18
#define STORE 0x48, 0x89, 0x04, 0x24	/* mov %rax, (%rsp) */
#define STORE_FAR 0x48, 0x89, 0x44, 0x24, 0x10
#define STORE_XMM 0x0f, 0x29, 0x04, 0x24	/* movaps %xmm0, (%rsp) */
#define STORE_RBX 0x48, 0x89, 0x03
#define LOAD 0x48, 0x8b, 0x04, 0x24	/* mov (%rsp), %rax */
#define LOAD_XMM 0xf2, 0x0f, 0x10, 0x04, 0x24
#define ADD_FROM 0x48, 0x03, 0x04, 0x24	/* add (%rsp), %rax */
#define LEA 0x48, 0x8d, 0x44, 0x24, 0x08
#define PUSH_R14 0x41, 0x56
#define PUSHF 0x9c
#define TIGHT 0x50, 0xa0		/* what a record begins with that takes a spill frame */
#define NO_G 0x66, 0x90, 0x48, 0xc7, 0xc0, 0, 0, 0, 0

/* A function that begins so, of OCaml or of another. No tactic but a jump over it. */
static void plan_beginning(bool ocaml, const uint8_t *bytes, size_t n)
{
	module_begin();
	m.ocaml = ocaml;
	func("f", 0); put_bytes(bytes, n); put_middle(); put(ADD_RSP_40, RET); func_end();
	put_n(INT3, 10);
	module_plan("f");
}

#define PLAN_BEGINNING(ocaml, ...) \
	plan_beginning(ocaml, (const uint8_t[]){ __VA_ARGS__ }, \
		       sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* Are the first `size` bytes in the entry's window, and no more? */
static bool displaces(size_t size)
{
	return !probe()->refusal && entry_site(probe())->pc == TEXT &&
		entry_site(probe())->window == size;
}

/* It is displaced like another's, but recorded with eight bytes of stack. */
static void recorded_tightly(void)
{
	static uint8_t code[STUB_CAP];
	const uint8_t record[] = { TIGHT }, no_g[] = { NO_G };
	struct placed_site *s;

	PLAN_BEGINNING(true, SUB_RSP_24, XOR_EAX);
	CHECK(displaces(6) && probe()->routines == ROUTINES_TIGHT && !probe()->g);
	CHECK(rules_broken(m.plan) == 0);
	s = placed_entry();
	CHECK(!place_site(m.plan, &m.probes[0], s, code));
	CHECK(!memcmp(code, record, sizeof(record)));
	CHECK(memmem(code, s->stub_size, no_g, sizeof(no_g)));
	PLAN_BEGINNING(false, SUB_RSP_24, XOR_EAX);
	CHECK(displaces(6) && probe()->routines == ROUTINES_C);
}

/* What may be the first to reach a word of the stack stays where it is. */
static void touches(void)
{
	static const uint8_t first[][5] = {
		{ STORE }, { STORE_FAR }, { STORE_XMM }, { PUSH_R14 }, { PUSHF }, { CALL_RAX },
	};

	for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++) {
		uint8_t bytes[9] = { SUB_RSP_24 };

		memcpy(bytes + 4, first[i], 5);
		plan_beginning(true, bytes, sizeof(bytes));
		CHECK(probe()->refusal || entry_site(probe())->window <= 4);
		plan_beginning(false, bytes, sizeof(bytes));
		CHECK(!probe()->refusal && entry_site(probe())->window > 4);
	}
}

/* What is read has been written; and what lies elsewhere is no matter. */
static void reads(void)
{
	PLAN_BEGINNING(true, SUB_RSP_24, LOAD);
	CHECK(displaces(8));
	PLAN_BEGINNING(true, SUB_RSP_24, LOAD_XMM);
	CHECK(displaces(9));
	PLAN_BEGINNING(true, SUB_RSP_24, ADD_FROM);
	CHECK(displaces(8));
	PLAN_BEGINNING(true, SUB_RSP_24, LEA);
	CHECK(displaces(9));
	PLAN_BEGINNING(true, SUB_RSP_24, STORE_RBX);
	CHECK(displaces(7));
}

/* Nor is the entry recorded behind a push: a record would be in another place. */
static void behind_pushes(void)
{
	PLAN_BEGINNING(true, PUSH_RBX, NOP5);
	CHECK(refused(REFUSED_MAY_FAULT));
	PLAN_BEGINNING(false, PUSH_RBX, NOP5);
	CHECK(displaces(6));
}

/* A signal's frame might have no room on such a stack. */
static void traps(void)
{
	const struct plan_options o = { .traps = true };

	for (int ocaml = 0; ocaml < 2; ocaml++) {
		module_begin();
		m.ocaml = ocaml;
		func("f", 0); put(RET); func_end();
		func("g", 1); put(XOR_EAX, RET); func_end();
		module_plan_with(&o, "f", NULL, NULL);
		CHECK(refused(ocaml ? REFUSED_TOO_SHORT : REFUSED_NONE));
	}
}

int main(void)
{
	recorded_tightly();
	touches();
	reads();
	behind_pushes();
	traps();
	module_end();
	return failures != 0;
}

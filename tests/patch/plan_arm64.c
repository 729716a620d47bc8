/* SPDX-License-Identifier: MIT */
/* Where do the jumps of an arm64 function stand? Each takes one instruction, so
 * little can be in the way. */
#include <signal.h>

#include "tests/patch/module.h"
#include "tests/patch/rules.h"

#define BTI_C 0xd503245fu
#define STP_FRAME 0xa9bf7bfdu		/* stp x29, x30, [sp, #-16]! */
#define LDP_FRAME 0xa8c17bfdu		/* ldp x29, x30, [sp], #16 */
#define MOV_X0_X1 0xaa0103e0u
#define RET 0xd65f03c0u
#define BR_X16 0xd61f0200u
#define SVC 0xd4000001u
#define NOP 0xd503201fu
#define BTI_J 0xd503249fu
#define LDXR 0xc85f7c01u		/* ldxr x1, [x0] */
#define ADD_X1 0x91000421u		/* add x1, x1, #1 */
#define STXR 0xc8027c01u		/* stxr w2, x1, [x0] */
#define CBNZ_W2_BACK3 0x35ffffa2u
#define CLREX 0xd5033f5fu

static void put_word(uint32_t w)
{
	put((uint8_t)w, (uint8_t)(w >> 8), (uint8_t)(w >> 16), (uint8_t)(w >> 24));
}

/* b, bl, b.eq to an offset of the text */
static void put_branch(uint32_t op, size_t dest)
{
	uint32_t words = (uint32_t)((dest - m.at) / 4);

	put_word(op == 0x54000000 ? op | (words & 0x7ffff) << 5 : op | (words & 0x3ffffff));
}

static void begin(void)
{
	module_begin();
	m.arch = &arch_arm64;
	func("f", 0);
}

static void one_word_is_enough(void)
{
	begin();
	put_word(STP_FRAME); put_word(MOV_X0_X1); put_word(LDP_FRAME); put_word(RET);
	func_end();
	module_plan("f");
	CHECK(!probe()->refusal && !probe()->entry_only);
	CHECK(probe()->nexits == 1);
	CHECK(probe()->sites[probe()->nsites - 1].pc == TEXT);
}

static void stands_behind_landing_pad(void)
{
	begin();
	put_word(BTI_C); put_word(STP_FRAME);
	for (int i = 0; i < 8; i++)
		put_word(MOV_X0_X1);
	put_word(LDP_FRAME); put_word(RET); func_end();
	module_plan("f");
	CHECK(!probe()->refusal && !probe()->entry_only);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 44, 4, 0));
	CHECK(site_is(probe(), 1, TACTIC_JUMP, 4, 4, 0));
	CHECK(rules_broken(m.plan) == 0);
}

static void loop_to_behind_landing_pad(void)
{
	begin();
	put_word(BTI_C); put_word(MOV_X0_X1); put_word(MOV_X0_X1);
	put_branch(0x54000000, 4); put_word(RET); func_end();
	module_plan("f");
	CHECK(!probe()->refusal && !probe()->entry_only && probe()->linked);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 4, 16, 0));
	CHECK(rules_broken(m.plan) == 0);
}

static void loop_behind_entry(void)
{
	begin();
	put_word(BTI_C); put_word(MOV_X0_X1); put_word(MOV_X0_X1);
	put_branch(0x54000000, 8); put_word(RET); func_end();
	module_plan("f");
	CHECK(!probe()->refusal && !probe()->entry_only);
	CHECK(site_is(probe(), 1, TACTIC_JUMP, 4, 4, 0));
}

static void tail_jump(void)
{
	begin();
	put_word(MOV_X0_X1);
	for (int i = 0; i < 8; i++)
		put_word(MOV_X0_X1);
	put_branch(0x14000000, 0x80); func_end();
	func("g", 0x80); put_word(RET); func_end();
	module_plan("f");
	CHECK(!probe()->refusal && !probe()->entry_only);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 36, 4, 0));
	CHECK(rules_broken(m.plan) == 0);
}

/* By what was given; and to what the code names: another function, or a place of this one. */
static void jumps_by_register(void)
{
	static const uint32_t adr_x16[] = { 0x10000010 | 0x78 / 4 << 5, 0x10000010 | 8 / 4 << 5 };

	begin();
	put_word(BTI_C); put_word(0xaa0003f0); put_word(MOV_X0_X1); put_word(BR_X16); func_end();
	module_plan("f");
	CHECK(!probe()->refusal && !probe()->entry_only && probe()->nexits == 1);
	for (int i = 0; i < 2; i++) {
		begin();
		put_word(BTI_C); put_word(MOV_X0_X1); put_word(adr_x16[i]); put_word(BR_X16);
		put_word(RET); func_end();
		func("g", 0x80); put_word(RET); func_end();
		module_plan("f");
		CHECK(!probe()->refusal && !probe()->entry_only);
		CHECK(probe()->nexits == 1);
	}
}

/* A switch adds a distance to a place of its own: each return behind it is an exit, though no
 * branch leads there. */
static void switch_leads_to_exits(void)
{
	static const uint32_t words[] = {
		0x7100041f,		/* cmp w0, #1 */
		0x540000e8,		/* b.hi 1f */
		0x90001362, 0x910ba042,	/* x2: the table */
		0x38604842,		/* ldrb w2, [x2, w0, uxtw] */
		0x10000060,		/* adr x0, 1f */
		0x8b228802,		/* add x2, x0, w2, sxtb #2 */
		0xd61f0040,		/* br x2 */
		RET, MOV_X0_X1, RET, MOV_X0_X1, RET,
	};

	begin();
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		put_word(words[i]);
	func_end();
	module_plan("f");
	CHECK(!probe()->refusal && !probe()->entry_only);
	CHECK_EQ(probe()->nexits, 3);
}

static void supervisor_call_at_entry(void)
{
	begin();
	put_word(SVC); put_word(RET); func_end();
	module_plan("f");
	CHECK(probe()->refusal == REFUSED_SYSCALL_INSIDE);
}

/* ldr x0, 1f; ret; 1: what looks like another ret */
static void constant_among_code(void)
{
	begin();
	put_word(STP_FRAME); put_word(0x58000060); put_word(LDP_FRAME); put_word(RET);
	put_word(RET); put_word(0x14000000); func_end();
	module_plan("f");
	CHECK(!probe()->refusal && !probe()->entry_only);
	CHECK(probe()->nexits == 1);
}

/* Behind the code, loaded otherwise by now, is what no decoder knows. */
static void constant_left_over(void)
{
	begin();
	put_word(STP_FRAME); put_word(MOV_X0_X1); put_word(LDP_FRAME); put_word(RET);
	put_word(0x00210c00); func_end();
	module_plan("f");
	CHECK(!probe()->refusal && !probe()->entry_only);
	CHECK(probe()->nexits == 1);
}

/* In a program that is linked to one address any number may look like one of code; nothing runs
 * that is not aligned. */
static void number_in_window(void)
{
	begin();
	m.exec = true;
	put_word(STP_FRAME); put_word(MOV_X0_X1); put_word(LDP_FRAME); put_word(RET);
	func_end();
	for (uint64_t i = 0; i < 16; i++)
		memcpy(m.rodata + 8 * i, &(uint64_t){ TEXT + (i % 4 ? i : 1) }, 8);
	module_plan("f");
	CHECK(!probe()->refusal && !probe()->entry_only && probe()->nexits == 1);
	CHECK(rules_broken(m.plan) == 0);
}

#define BRK(number) (0xd4200000u | (number) << 5)

static void plan_trap(uint32_t word, uint64_t caught)
{
	begin();
	put_word(word); func_end();
	module_plan_with(&(struct plan_options){ .caught = caught }, "f", NULL, NULL);
}

/* What cannot happen, as compilers make it; nothing follows. */
static void stops_at_once(void)
{
	const uint64_t trap = 1ull << (5 - 1);

	for (uint32_t number = 1; number <= 1000; number += 999) {
		plan_trap(BRK(number), 0);
		CHECK(site_is(probe(), 0, TACTIC_JUMP, 0, 4, 0) && !probe()->nexits);
		plan_trap(BRK(number), trap);		/* the program handles it */
		CHECK(probe()->refusal == REFUSED_UNMOVABLE);
	}
	plan_trap(BRK(0u), 0);				/* a breakpoint of the program's */
	CHECK(probe()->refusal == REFUSED_UNMOVABLE);
}

#define STP_X19_X20 0xa90153f3u		/* stp x19, x20, [sp, #16] */
#define STR_D8 0xfd0013e8u		/* str d8, [sp, #32] */
#define STR_X0 0xf90013e0u		/* str x0, [sp, #32] */
#define CBZ_X0_12 0xb4000060u		/* to behind the next two */

/* Behind a call that never returns a compiler may leave what it would have saved. */
static void plan_end(uint32_t first, uint32_t second, bool call)
{
	begin();
	put_word(STP_FRAME); put_word(CBZ_X0_12); put_word(LDP_FRAME); put_word(RET);
	if (call)
		put_branch(0x94000000, 0x80);
	put_word(first); put_word(second); func_end();
	func("next", m.at); put_word(RET); func_end();
	func("never", 0x80); put_word(RET); func_end();
	module_plan("f");
}

static void saves_for_nothing(void)
{
	plan_end(STP_X19_X20, STR_D8, true);
	CHECK(!probe()->refusal && !probe()->entry_only && probe()->nexits == 1);
	plan_end(STP_X19_X20, NOP, true);
	CHECK(!probe()->refusal && !probe()->entry_only && probe()->nexits == 1);
	/* No callee keeps x0; and nothing says that control does not come here. */
	plan_end(STP_X19_X20, STR_X0, true);
	CHECK(probe()->entry_only == REFUSED_SHARED_BODY);
	plan_end(STP_X19_X20, STR_D8, false);
	CHECK(probe()->entry_only == REFUSED_SHARED_BODY);
}

/* The linkage table, of which each stub jumps through the next of the words at SLOTS. */
#define ADRP_X16 0x90000010u
#define LDR_X17_X16 0xf9400211u
#define ADD_X16_X16 0x91000210u
#define BR_X17 0xd61f0220u
#define AUTIA1716 0xd503219fu

static void put_slot_page(uint32_t slot)
{
	uint32_t pages = (slot >> 12) - (uint32_t)((TEXT + m.at) >> 12);

	put_word(ADRP_X16 | (pages & 3) << 29 | pages >> 2 << 5);
}

static void put_slot_load(uint32_t slot)
{
	put_word(LDR_X17_X16 | (slot & 0xfff) / 8 << 10);
}

static void put_slot_place(uint32_t slot)
{
	put_word(ADD_X16_X16 | (slot & 0xfff) << 10);
}

static void begin_linkage(const char *const *names)
{
	module_begin();
	m.arch = &arch_arm64;
	for (size_t i = 0; names[i]; i++)
		m.slots[i] = names[i];
	/* What binds a symbol, through a word of no symbol. */
	put_word(0xa9bf7bf0);		/* stp x16, x30, [sp, #-16]! */
	put_slot_page(SLOTS - 8);
	put_slot_load(SLOTS - 8);
	put_slot_place(SLOTS - 8);
	put_word(BR_X17); put_word(NOP); put_word(NOP); put_word(NOP);
}

static bool stub_is(const char *name, size_t off, size_t size)
{
	const struct func *f = module_func(name);

	return f->flags & FUNC_PLT && f->range.start == TEXT + off && range_size(f->range) == size;
}

static void linkage_stubs(void)
{
	begin_linkage((const char *const[]){ "one", "two", "three", NULL });
	for (uint32_t slot = SLOTS; slot < SLOTS + 24; slot += 8) {
		put_slot_page(slot); put_slot_load(slot); put_slot_place(slot); put_word(BR_X17);
	}
	m.table = (struct range){ TEXT, TEXT + m.used };
	module_plan("two");
	CHECK(m.symbols->nfuncs == 3);
	CHECK(stub_is("one", 32, 16) && stub_is("two", 48, 16) && stub_is("three", 64, 16));
	CHECK(!probe()->refusal && probe()->entry_only == REFUSED_LINKAGE);
	CHECK(probe()->nsites == 1 && site_is(probe(), 0, TACTIC_JUMP, 48, 4, 0));
	CHECK(rules_broken(m.plan) == 0);
}

/* With a landing pad, and with what checks a word that is signed. */
static void linkage_stubs_guarded(void)
{
	begin_linkage((const char *const[]){ "pad", "signed", "both", NULL });
	put_word(BTI_C); put_slot_page(SLOTS); put_slot_load(SLOTS); put_slot_place(SLOTS);
	put_word(BR_X17); put_word(NOP);
	put_slot_page(SLOTS + 8); put_slot_load(SLOTS + 8); put_slot_place(SLOTS + 8);
	put_word(AUTIA1716); put_word(BR_X17); put_word(NOP);
	put_word(BTI_C); put_slot_page(SLOTS + 16); put_slot_load(SLOTS + 16);
	put_slot_place(SLOTS + 16); put_word(AUTIA1716); put_word(BR_X17);
	m.table = (struct range){ TEXT, TEXT + m.used };
	module_plan_with(NULL, "pad", "signed", "both");
	CHECK(m.symbols->nfuncs == 3);
	CHECK(stub_is("pad", 32, 20) && stub_is("signed", 56, 20) && stub_is("both", 80, 24));
	CHECK(site_is(&m.plan->probes[0], 0, TACTIC_JUMP, 36, 4, 0));
	CHECK(site_is(&m.plan->probes[1], 0, TACTIC_JUMP, 56, 4, 0));
	CHECK(site_is(&m.plan->probes[2], 0, TACTIC_JUMP, 84, 4, 0));
}

/* Bound at the start, as some linkers do; and what only looks like a stub. */
static void linkage_stubs_odd(void)
{
	begin_linkage((const char *const[]){ "bound", "other", "cut", NULL });
	put_slot_page(SLOTS); put_slot_load(SLOTS); put_word(BR_X17); put_word(NOP);
	put_slot_page(SLOTS + 8); put_slot_load(SLOTS + 8); put_slot_place(SLOTS); put_word(BR_X17);
	put_slot_page(SLOTS + 16); put_slot_load(SLOTS + 16);
	m.table = (struct range){ TEXT, TEXT + m.used };
	module_plan("bound");
	CHECK(m.symbols->nfuncs == 1 && stub_is("bound", 32, 12));
	CHECK(!probe()->refusal && probe()->nsites == 1);
}

/* The last site is the entry's, or the place's. */
static const struct site *last_site(void)
{
	return &probe()->sites[probe()->nsites - 1];
}

static enum refusal refusal_at(size_t off)
{
	const raddr_t places[3] = { TEXT + off };
	const struct plan_options o = { .places = places };

	module_plan_with(&o, "f", NULL, NULL);
	return probe()->refusal;
}

/* A record between a load and its store would make the store fail, each time. Where the store is
 * not made, it would not. */
static void place_in_exclusive(void)
{
	static const bool refused[] = { false, false, true, true, true, false, false, false };

	begin();
	put_word(MOV_X0_X1); put_word(LDXR); put_word(ADD_X1); put_branch(0x54000000, 24);
	put_word(STXR); put_word(RET); put_word(CLREX); put_word(RET); func_end();
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		CHECK(refusal_at(4 * i) == (refused[i] ? REFUSED_EXCLUSIVE : REFUSED_NONE));
	begin();
	put_word(LDXR); put_word(ADD_X1); put_word(STXR); put_word(CBNZ_W2_BACK3); put_word(RET);
	func_end();
	CHECK(!refusal_at(0) && refusal_at(8) == REFUSED_EXCLUSIVE && !refusal_at(12));
	CHECK(last_site()->pc == TEXT + 12 && last_site()->place);
}

/* Neither is an entry recorded there: of a function that begins so, or behind a load that has to
 * stay, as it may fault. */
static void entry_in_exclusive(void)
{
	const struct plan_options o = { .caught = 1ull << (SIGSEGV - 1) };

	begin();
	put_word(ADD_X1); put_word(STXR); put_word(RET); func_end();
	module_plan("f");
	CHECK(probe()->refusal == REFUSED_EXCLUSIVE);
	begin();
	put_word(LDXR); put_word(ADD_X1); put_word(STXR); put_word(MOV_X0_X1); put_word(RET);
	func_end();
	module_plan_with(&o, "f", NULL, NULL);
	CHECK(probe()->refusal == REFUSED_MAY_FAULT);
}

/* Control comes to it by a register only as long as it is there. */
static void place_on_landing_pad(void)
{
	begin();
	put_word(MOV_X0_X1); put_word(BTI_J); put_word(MOV_X0_X1); put_word(RET); func_end();
	CHECK(!refusal_at(4) && last_site()->pc == TEXT + 8);
	begin();
	put_word(MOV_X0_X1); put_word(BTI_J); put_word(MOV_X0_X1); put_branch(0x54000000, 8);
	put_word(RET); func_end();
	CHECK(refusal_at(4) == REFUSED_UNMOVABLE && !refusal_at(8));
}

static bool is_framed_at(size_t off)
{
	CHECK(!refusal_at(off));
	return probe()->framed;
}

/* Where a place has the stack pointer lower than its function's entry, a call with a frame there
 * has been left. By what unwinders are told: not always that the frame is gone at a return. */
static void place_in_frame(void)
{
	begin();
	put_word(MOV_X0_X1); put_word(MOV_X0_X1); put_word(RET); func_end();
	CHECK(!is_framed_at(0) && !is_framed_at(4));
	begin();
	func_cfa(32); put_word(MOV_X0_X1); put_word(MOV_X0_X1);
	func_down(); put_word(RET); func_end();
	CHECK(!is_framed_at(0) && is_framed_at(4) && !is_framed_at(8));
	begin();
	func_cfa(FRAME_POINTER); put_word(MOV_X0_X1); put_word(MOV_X0_X1);
	put_word(RET); func_end();
	CHECK(!is_framed_at(0) && is_framed_at(4) && !is_framed_at(8));
}

int main(void)
{
	place_in_exclusive();
	place_in_frame();
	entry_in_exclusive();
	place_on_landing_pad();
	number_in_window();
	stops_at_once();
	saves_for_nothing();
	linkage_stubs();
	linkage_stubs_guarded();
	linkage_stubs_odd();
	one_word_is_enough();
	stands_behind_landing_pad();
	loop_to_behind_landing_pad();
	loop_behind_entry();
	tail_jump();
	jumps_by_register();
	switch_leads_to_exits();
	supervisor_call_at_entry();
	constant_among_code();
	constant_left_over();
	module_end();
	return failures != 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Where do jumps of a function to its own entry, or inside a window, lead?
 * One test per situation that a compiler or a hand has made; each fails if the
 * rule behind it is gone.
 */
#include "tests/patch/insns.h"
#include "tests/patch/rules.h"

enum { LINK = 54 };	/* where the jump behind begin_f() stands */

/* A function that begins like most; its second instruction is at 1, its window
 * ends at 6. */
static void begin_f(void)
{
	module_begin();
	func("f", 0); put(CMC, MOV_RDI_RAX, XOR_EAX); put_middle();
}

static void end_f(void)
{
	put(ADD_RSP_40, RET); func_end();
}

static const struct site *site_with(const struct probe *p, size_t off)
{
	for (size_t i = 0; i < p->nsites; i++)
		if (off + TEXT >= p->sites[i].pc &&
		    off + TEXT < p->sites[i].pc + p->sites[i].window)
			return &p->sites[i];
	return NULL;
}

static bool sound(void)
{
	return rules_broken(m.plan) == 0;
}

/* All exits, and a site that holds the jump at `from`. */
static bool redirected(size_t from)
{
	return entry_only(REFUSED_NONE) && probe()->linked && site_with(probe(), from) && sound();
}

/* ---- what is led elsewhere ---------------------------------------------- */

static void loop_to_the_entry(void)
{
	begin_f(); put_rel8(JNE, 0); end_f();
	module_plan("f");
	CHECK(redirected(LINK));
	CHECK(site_is(probe(), probe()->nsites - 1, TACTIC_JUMP, 0, 6, 0));
	CHECK(!entry_site(probe())->level);
}

static void loop_to_behind_a_landing_pad(void)
{
	module_begin();
	func("f", 0); put(ENDBR64, CMC); put_middle(); put_rel8(JNE, 4); end_f();
	module_plan("f");
	CHECK(redirected(0x35));
	CHECK(entry_site(probe())->level);
}

static void loop_head_one_byte_in(void)
{
	begin_f(); put_rel8(JNE, 1); end_f();
	module_plan("f");
	CHECK(redirected(LINK));
	CHECK(entry_site(probe())->level && !site_with(probe(), LINK)->level);
}

static void several_jumps_one_head(void)
{
	begin_f(); put_rel8(JNE, 1); put_middle(); put_je(1); put_middle(); put_rel8(JE, 0xa5);
	put_jmp(1); put(MOV_EAX_1); end_f();
	module_plan("f");
	CHECK(redirected(LINK));
	CHECK(site_with(probe(), LINK + 2 + 48) && site_with(probe(), LINK + 8 + 96 + 2));
}

static void loop_within_the_window(void)
{
	module_begin();
	func("f", 0); put(CMC, TEST_EDI); put_rel8(JNE, 1); put_middle(); end_f();
	module_plan("f");
	CHECK(redirected(3));
	CHECK(site_with(probe(), 3) == entry_site(probe()));
}

static void return_that_is_jumped_to(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI, 0x66, NOP); put_rel8(JE, 15 + 48); put_middle();
	put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(redirected(9));
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 59, 5, 0) && probe()->sites[0].level);
	CHECK(probe()->nexits == 1 && probe()->sites[0].nexits == 1);
}

static void jump_from_a_fragment(void)
{
	begin_f(); put_je(0x80); end_f();
	func("f.cold", 0x80); put(MOV_EAX_1); put_jmp(1); func_end();
	module_plan("f");
	CHECK(redirected(0x85));
}

static void only_the_entry_is_wanted(void)
{
	struct plan_options o = { .entry_only = true };

	begin_f(); put_rel8(JNE, 0); end_f();
	module_plan_with(&o, "f", NULL, NULL);
	CHECK(entry_only(REFUSED_ENTRY_ONLY_ASKED) && probe()->linked);
	CHECK(probe()->nsites == 2 && sound());
}

/* The link has its two bytes and no more: the jumps beside it lead to it and
 * behind it. */
static void begin_hemmed(size_t to)
{
	begin_f(); put_rel8(JE, LINK + 2); put_rel8(JNE, to); put_rel8(JNE, LINK + 4);
	end_f();
}

static void short_jump_at_the_link(void)
{
	begin_hemmed(1); put(NOP5, NOP5);
	func("g", 0x80); put(MOV_EAX_1, RET); func_end();
	module_plan("f");
	CHECK(redirected(LINK + 2));
	CHECK(site_with(probe(), LINK + 2)->tactic == TACTIC_SHORT);
}

/* ---- what is not -------------------------------------------------------- */

static void no_room_for_a_link(void)
{
	begin_hemmed(0);
	module_plan("f");
	CHECK(refused(REFUSED_LOOP_ENTRY));
}

static void no_room_for_an_inner_link(void)
{
	begin_hemmed(1);
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
}

static void also_a_pointer(void)
{
	begin_f(); put_rel8(JNE, 1); end_f();
	m.exec = true;
	memcpy(m.rodata, &(uint64_t){ TEXT + 1 }, 8);
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
}

static void also_an_address(void)
{
	begin_f(); put_rel8(JNE, 1); end_f();
	func("g", 0x80); put_lea(1 + TEXT - RODATA); put(RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
}

static void also_a_landing_pad(void)
{
	module_begin();
	func("f", 0); put(CMC, ENDBR64); put_middle(); put_rel8(JNE, 1); end_f();
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
}

static void also_a_symbol(void)
{
	begin_f(); put_rel8(JNE, 1); end_f();
	func("inner", 1); m.at = 0x40; func_end();
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
}

static void also_a_call(void)
{
	begin_f(); put_rel8(JNE, 1); put_call(1); end_f();
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
}

static void also_a_stranger(void)
{
	begin_f(); put_rel8(JNE, 1); end_f();
	func("g", 0x80); put(MOV_EAX_1); put_jmp(1); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
}

static void also_code_of_nobody(void)
{
	begin_f(); put_rel8(JNE, 1); end_f();
	m.at = 0x80; put(MOV_EAX_1); put_jmp(1);
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
}

/* Behind a jump that leads to an unknown place: an iteration would be a call. */
static void loop_that_nobody_sees(void)
{
	module_begin();
	func("f", 0); func_cfa(48); put(MOV_EAX_1, JMP_RAX, MOV_RDI_RAX);
	put_rel8(JNE, 0); end_f();
	module_plan("f");
	CHECK(refused(REFUSED_LOOP_ENTRY));
}

static void also_a_jump_table(void)
{
	int32_t table[2] = { TEXT + 1 - (RODATA + 0x100) };

	module_begin();
	func("f", 0); func_cfa(48);
	put(CMC, MOV_RDI_RAX, XOR_EAX); put_lea(0x100);
	put(0x48, 0x63, 0x04, 0x82, 0x48, 0x01, 0xd0, JMP_RAX);
	table[1] = table[0] - 1 + (int32_t)m.at;
	put(MOV_EAX_1); put_rel8(JNE, 1); end_f();
	memcpy(m.rodata + 0x100, table, sizeof(table));
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
}

static void indirect_jump_unresolved(void)
{
	module_begin();
	func("f", 0); func_cfa(48); put(CMC, MOV_RDI_RAX, XOR_EAX); put_middle();
	put_rel8(JNE, 1); put(JMP_RAX); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_JUMP_TABLE));
}

static void code_that_cannot_be_read(void)
{
	begin_f(); put_rel8(JNE, 1); put(RET, 0x06, 0x06, 0x06); put_rel8(JNE, 1); put(RET);
	func_end();
	module_plan("f");
	CHECK(refused(REFUSED_JUMP_TABLE));	/* they may go anywhere */
}

/* Nothing leads to it: it may be data, which is not written over. */
static void what_may_be_data(void)
{
	begin_f(); put_rel8(JNE, 1); put_rel8(JMP8, LINK + 14); put(MOV_EAX_1);
	put_rel8(JNE, 1); put(NOP, NOP, NOP); end_f();
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
}

static void loop_in_what_may_be_data(void)
{
	begin_f(); put_rel8(JNE, 0); put_rel8(JMP8, LINK + 13); put(MOV_EAX_1);
	put_rel8(JNE, 0); put(NOP, NOP); end_f();
	module_plan("f");
	CHECK(redirected(LINK));
	CHECK(!site_with(probe(), LINK + 9));
}

static void into_an_instruction(void)
{
	module_begin();
	/* lock cmpxchg %esi,(%rdi), with and without its prefix */
	func("f", 0); put(CMC, 0xf0, 0x0f, 0xb1, 0x37); put_middle(); put_rel8(JNE, 2);
	end_f();
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
}

/* The sweep reads on at the start of the inner one, and other instructions. */
static void function_within(bool inner)
{
	size_t ret = LINK + 6 + 5 + 4;

	begin_f(); put(0xb8); put_rel8(JNE, ret); put(NOP, NOP); put_je(ret); end_f();
	if (inner) {
		func("f.cold", LINK + 1); m.at = ret + 1; func_end();
	}
	module_plan("f");
	CHECK(inner ? entry_only(REFUSED_EXIT_NO_ROOM) : redirected(LINK + 5));
}

/* What comes from there is no jump of the inner one. */
static void function_around(bool outer)
{
	size_t inner = LINK + 6;

	begin_f();
	if (outer)
		put_je(inner + 1);
	m.at = inner;
	put(CMC, MOV_RDI_RAX, XOR_EAX); put_middle(); put_rel8(JNE, inner + 1); end_f();
	func("inner", inner); m.at = inner + LINK + 2 + 5; func_end();
	module_plan("inner");
	CHECK(refused(outer ? REFUSED_BRANCH_INSIDE : REFUSED_NONE) && sound());
}

/* The entry's window holds a jump into an exit's, the exit's none that leads
 * back: the entry's is written first. */
static void window_that_leads_into_another(void)
{
	module_begin();
	func("f", 0); put(CMC); put_je(0x80); put_middle(); put_rel8(JNE, 1);
	put_n(NOP, 0x7c - m.at); put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(redirected(1) && redirected(0x37));
	CHECK(entry_site(probe())->level == 1);
	CHECK(site_with(probe(), 0x80)->level == 2 && probe()->nexits == 1);
}

/* A jump into the entry's window has a site of its own, so that it does not depend on
 * one that depends on the entry's. */
static void windows_that_lead_into_each_other(void)
{
	module_begin();
	func("f", 0); put(CMC); put_je(0x80); put_middle();
	put_n(NOP, 0x7a - m.at); put_je(1); put(RET); func_end();
	module_plan("f");
	CHECK(!probe()->refusal && sound());
	CHECK(entry_site(probe())->level == 1);
	CHECK(site_with(probe(), 0x7a)->level == 0);
}

int main(void)
{
	loop_to_the_entry();
	loop_to_behind_a_landing_pad();
	loop_head_one_byte_in();
	several_jumps_one_head();
	loop_within_the_window();
	return_that_is_jumped_to();
	jump_from_a_fragment();
	only_the_entry_is_wanted();
	short_jump_at_the_link();
	no_room_for_a_link();
	no_room_for_an_inner_link();
	also_a_pointer();
	also_an_address();
	also_a_landing_pad();
	also_a_symbol();
	also_a_call();
	also_a_stranger();
	also_code_of_nobody();
	loop_that_nobody_sees();
	also_a_jump_table();
	indirect_jump_unresolved();
	code_that_cannot_be_read();
	what_may_be_data();
	loop_in_what_may_be_data();
	into_an_instruction();
	function_within(false);
	function_within(true);
	function_around(false);
	function_around(true);
	window_that_leads_into_another();
	windows_that_lead_into_each_other();
	module_end();
	return failures != 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Is an indirect jump an exit, or does it stay in the function?
 * One test per situation that a compiler or a hand has made; each fails if the
 * rule behind it is gone.
 */
#include "tests/patch/insns.h"

/* lea T,%rdx; movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax */
static void put_switch(size_t rodata_off)
{
	put_lea(rodata_off);
	put(0x48, 0x63, 0x04, 0x82, 0x48, 0x01, 0xd0, JMP_RAX);
}

static void put_entry(size_t rodata_off, size_t i, size_t dest)
{
	int32_t d = (int32_t)(TEXT + dest) - (int32_t)(RODATA + rodata_off);

	memcpy(m.rodata + rodata_off + 4 * i, &d, 4);
}

static void begin_switch(int64_t cfa)
{
	module_begin();
	func("f", 0); func_cfa(cfa); put(MOV_EAX_1); put_switch(0x100);
	put(MOV_EAX_1, NOP, ADD_RSP_40, RET); func_end();
}

static void jump_table_pic(void)
{
	begin_switch(48);
	put_entry(0x100, 0, 21);
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 1);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 27, 5, 0));
}

static void jump_table_target_in_window(void)
{
	begin_switch(48);
	put_entry(0x100, 0, 21);
	put_entry(0x100, 1, 31);
	module_plan("f");
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
}

/* An entry that leads nowhere is no end: what is behind it counts, too. */
static void jump_table_has_a_hole(void)
{
	begin_switch(48);
	put_entry(0x100, 0, 21);
	put_entry(0x100, 1, 0x2000);
	put_entry(0x100, 2, 31);
	module_plan("f");
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
}

/* Only where the stack is as the entry finds it, or it is not known how it is. */
static void jump_table_to_entry(void)
{
	for (int64_t cfa = 0; cfa <= 8; cfa += 8) {
		begin_switch(cfa);
		put_entry(0x100, 0, 0);
		module_plan("f");
		CHECK(refused(REFUSED_LOOP_ENTRY));
	}
	begin_switch(48);
	put_entry(0x100, 0, 21);
	put_entry(0x100, 1, 0);
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
}

static void jump_table_unresolved(void)
{
	module_begin();
	func("f", 0); func_cfa(48); put(MOV_EAX_1, JMP_RAX, MOV_EAX_1, ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_JUMP_TABLE));
}

/* Assembly: it is not known how the stack is, but what could it know in here? */
static void tail_call_without_unwind(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_middle(); put(MOV_RDI_RAX, JMP_RAX); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 1);
}

static void names_a_place_of_its_own(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, 0x48, 0x8d, 0x15); put_rel32(20);	/* lea */
	put(MOV_RDI_RAX, JMP_RAX, MOV_EAX_1, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_JUMP_TABLE));
}

static void names_a_place_by_its_number(void)
{
	for (int exec = 0; exec < 2; exec++) {
		module_begin();
		m.exec = exec;
		func("f", 0); put(MOV_EAX_1, 0xb9, 0x12, 0, TEXT >> 16, 0, MOV_RDI_RAX);
		put(JMP_RAX, MOV_EAX_1, RET); func_end();
		module_plan("f");
		CHECK(entry_only(exec ? REFUSED_JUMP_TABLE : REFUSED_NONE));
	}
}

static void calls_a_place_of_its_own(void)
{
	module_begin();
	func("f", 0); put(PUSH_RBX, MOV_RDI_RAX, JMP_RBX_0, RET); put_call(1); put(RET);
	func_end();
	module_plan("f");
	CHECK(refused(REFUSED_JUMP_TABLE));
}

/* A sum is a place in a table, but in which? */
static void sum_without_a_table(void)
{
	module_begin();
	func("f", 0); func_cfa(8); put(MOV_EAX_1); put_middle();
	put(0x48, 0x01, 0xd0, JMP_RAX); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_JUMP_TABLE));
}

/* Of two jumps the second uses what was loaded long before it, for the first. */
static void table_loaded_before_a_loop(void)
{
	begin_switch(8);
	m.at = 21; put_middle(); put_middle(); put_middle();
	put(0x48, 0x63, 0x04, 0x82, 0x48, 0x01, 0xd0, JMP_RAX, MOV_EAX_1, RET);
	m.syms[1].st_size = m.at;
	put_entry(0x100, 0, 21);
	put_entry(0x100, 1, m.at - 6);
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 1);
}

/* What was added up is not where it jumps: it is loaded from there. */
static void loaded_beside_a_table(void)
{
	begin_switch(8);
	m.at = 21; put_middle(); put_middle(); put_middle();
	put(0x48, 0x01, 0xd0, 0x48, 0x8b, 0x00, JMP_RAX, MOV_EAX_1, RET);
	m.syms[1].st_size = m.at;
	put_entry(0x100, 0, 21);
	put_entry(0x100, 1, m.at - 6);
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 2);
}

/* A switch, and behind it a case whose jump `bytes` lead to, with a frame or not. */
static void plan_case(int64_t cfa, bool down, const uint8_t *bytes, size_t n)
{
	begin_switch(cfa);
	m.at = 21; put(MOV_RDI_RAX); put_bytes(bytes, n);
	if (down)
		func_down();
	put(JMP_RAX, MOV_EAX_1, MOV_RDI_RAX, RET);
	m.syms[1].st_size = m.at;
	put_entry(0x100, 0, 21);
	put_entry(0x100, 1, m.at - 9);
	module_plan("f");
}

#define PLAN_CASE(cfa, down, ...) \
	plan_case(cfa, down, (const uint8_t[]){ __VA_ARGS__ }, \
		  sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* A case that ends with a tail call stands near the switch's table, too. */
static void tail_call_of_a_case(void)
{
	PLAN_CASE(8, false, 0x48, 0x8b, 0x00);			/* mov (%rax),%rax */
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 2);
	PLAN_CASE(48, true, 0x48, 0x89, 0xf8, ADD_RSP_40);	/* mov %rdi,%rax */
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 2);
}

/* By an argument it leaves; by a sum, or on one of two ways, that is not known. */
static void another_jump_beside_the_table(void)
{
	PLAN_CASE(8, false, 0x48, 0x89, 0xf8);			/* mov %rdi,%rax */
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 2);
	PLAN_CASE(48, true, 0x48, 0x01, 0xd0, ADD_RSP_40);	/* add %rdx,%rax */
	CHECK(entry_only(REFUSED_JUMP_TABLE));
	CHECK(m.plan->ndoubts);
	PLAN_CASE(8, false, JE, 3, 0x48, 0x8b, 0x00);		/* an argument, or loaded */
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 2);
}

static void jump_table_absolute(void)
{
	module_begin();
	func("f", 0); func_cfa(48); put(MOV_EAX_1, 0xff, 0x24, 0xc5, 0x00, 0x01, 0x04, 0x00);
	put(MOV_EAX_1, ADD_RSP_40, RET); func_end();
	memcpy(m.rodata + 0x100, &(uint64_t){ TEXT + 12 }, 8);
	memcpy(m.rodata + 0x108, &(uint64_t){ TEXT + 21 }, 8);
	module_plan("f");
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));	/* 21 is the return */
}

/* One entry inside, and one that another function begins at: its call ends there. What
 * is no function's start is another's table. */
static void jump_table_leads_out_at_last(void)
{
	for (size_t to = 0x100; to <= 0x105; to += 5) {
		module_begin();
		m.exec = true;
		func("f", 0); func_cfa(8); put(MOV_EAX_1, 0xff, 0x24, 0xc5, 0x00, 0x01, 0x04, 0x00);
		put(MOV_EAX_1, NOP, RET); func_end();
		func("g", 0x100); put(MOV_EAX_1, RET); func_end();
		memcpy(m.rodata + 0x100, &(uint64_t){ TEXT + 12 }, 8);
		memcpy(m.rodata + 0x108, &(uint64_t){ TEXT + to }, 8);
		module_plan("f");
		CHECK(entry_only(to == 0x100 ? REFUSED_JUMP_TABLE : REFUSED_NONE));
	}
}

static void put_address(size_t rodata_off, size_t dest)
{
	memcpy(m.rodata + rodata_off, &(uint64_t){ TEXT + dest }, 8);
}

/* lea T,%rdx, and what is to come between; jmp *(%rdx,%rax,8), as Go has it */
static void plan_named(const uint8_t *between, size_t n, uint8_t sib)
{
	module_begin();
	m.exec = true;
	func("f", 0); put(MOV_EAX_1); put_lea(0x100);
	put_bytes(between, n); put(0xff, 0x24, sib);
	put_n(NOP, 0x30 - m.at); put(MOV_EAX_1, NOP, ADD_RSP_40, RET); func_end();
	put_address(0x100, 0x30);
	put_address(0x108, 0x36);
	put_address(0x110, 0x2000);
	module_plan("f");
}

#define PLAN_NAMED(sib, ...) \
	plan_named((const uint8_t[]){ __VA_ARGS__ }, \
		   sizeof((const uint8_t[]){ __VA_ARGS__ }), sib)

/* Two places of the function, and no other code arrives at the jump, or with another table in
 * its register. */
static void jump_table_named_before(void)
{
	enum { SIB = 0xc2, OTHER_BASE = 0xc3, SCALE_4 = 0x82 };

	PLAN_NAMED(SIB, NOP);
	CHECK(entry_only(REFUSED_NONE) && probe()->nexits == 1 && !probe()->sites[0].level);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 0x36, 5, 0));
	PLAN_NAMED(SIB, 0x48, 0x89, 0xca);		/* mov %rcx,%rdx */
	CHECK(entry_only(REFUSED_JUMP_TABLE));
	PLAN_NAMED(SIB, JE, 0);				/* it is jumped to */
	CHECK(entry_only(REFUSED_JUMP_TABLE));
	PLAN_NAMED(OTHER_BASE, NOP);
	CHECK(entry_only(REFUSED_JUMP_TABLE));
	PLAN_NAMED(SCALE_4, NOP);
	CHECK(entry_only(REFUSED_JUMP_TABLE));
}

/* An array of functions may be named in the same way. */
static void tail_call_by_an_array(void)
{
	for (int64_t cfa = 8; cfa <= 48; cfa += 40) {
		module_begin();
		m.exec = true;
		func("f", 0); func_cfa(cfa); put(MOV_EAX_1); put_lea(0x100);
		put(0xff, 0x24, 0xc2, MOV_EAX_1, NOP, ADD_RSP_40, RET); func_end();
		put_address(0x100, 0x2000);
		put_address(0x108, 0x2010);
		module_plan("f");
		CHECK(entry_only(cfa == 8 ? REFUSED_NONE : REFUSED_JUMP_TABLE));
	}
}

/* jmp *RODATA+off(,%rax,8) */
static void put_jump_by(size_t rodata_off)
{
	uint32_t at = (uint32_t)(RODATA + rodata_off);

	put(0xff, 0x24, 0xc5);
	put_bytes((const uint8_t *)&at, sizeof(at));
}

/* Tables behind each other, in another order than the jumps by them, and one that shares
 * no words with them. The first jump stands where the stack is as at the entry. */
static void begin_row(void)
{
	module_begin();
	func("f", 0); func_cfa(48);
	put_jump_by(0x108);
	put_jump_by(0x100);
	put_jump_by(0x204);
	put(MOV_EAX_1, ADD_RSP_40, RET); func_end();
	for (size_t i = 0; i < 3; i++)
		memcpy(m.rodata + 0x100 + 8 * i, &(uint64_t){ TEXT + 7 }, 8);
	memcpy(m.rodata + 0x204, &(uint64_t){ TEXT + 14 }, 8);
	memcpy(m.rodata + 0x20c, &(uint64_t){ TEXT + 21 }, 8);
}

static void tables_in_a_row(void)
{
	static const size_t words[] = { 0x100, 0x108, 0x110, 0x204, 0x20c };

	begin_row();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		begin_row();
		memcpy(m.rodata + words[i], &(uint64_t){ TEXT + 30 }, 8);
		module_plan("f");
		CHECK(entry_only(REFUSED_EXIT_NO_ROOM));	/* 30 is the return */
	}
}

/* Each jump that may come to the entry by it is asked about the stack that it has. */
static void table_in_a_row_to_entry(void)
{
	static const size_t words[] = { 0x100, 0x108, 0x110 };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		begin_row();
		memcpy(m.rodata + words[i], &(uint64_t){ TEXT }, 8);
		module_plan("f");
		CHECK(i ? refused(REFUSED_LOOP_ENTRY) : entry_only(REFUSED_NONE));
	}
}

static void indirect_tail_call(void)
{
	module_begin();
	func("f", 0); func_cfa(8); put(MOV_EAX_1); put_middle();
	put(MOV_RDI_RAX, JMP_RAX); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 1);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 53, 5, 0));
}

static void indirect_tail_call_through_slot(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_middle(); put(0xff, 0x25, 0, 0, 0, 0); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 53, 6, 0));
}

static void leaf_switch_is_no_tail_call(void)
{
	begin_switch(8);
	put_entry(0x100, 0, 21);
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 1);
}

static void notrack_is_no_tail_call(void)
{
	module_begin();
	func("f", 0); func_cfa(8);
	put(ENDBR64, MOV_EAX_1, NOTRACK_JMP_RAX, MOV_EAX_1, RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_JUMP_TABLE));	/* it may lead behind the endbr64 */
}

static void jump_table_into_padding(void)
{
	module_begin();
	func("f", 0); func_cfa(48); put(MOV_EAX_1); put_switch(0x100);
	put_call(0x100); put(RET, NOP, NOP, NOP, NOP, NOP, MOV_EAX_1, RET); func_end();
	func("g", 0x100); put(RET); func_end();
	put_entry(0x100, 0, 21);
	put_entry(0x100, 1, 27 + 2);	/* the second nop, in what looks dead */
	module_plan("f");
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
}

static void jump_table_to_nameless_fragment(void)
{
	begin_switch(48);
	fragment(0x83); put(MOV_EAX_1, ADD_RSP_40, RET); func_end();
	put_entry(0x100, 0, 21);
	put_entry(0x100, 1, 0x83);
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 2);
}

/* Behind a table stands another function's, which leads to that one's piece. */
static void jump_table_of_the_next(void)
{
	begin_switch(48);
	fragment(0x83); put(MOV_EAX_1, ADD_RSP_40, RET); func_end();
	func("g", 0x100); put(MOV_EAX_1); put_je(0x83); put(RET); func_end();
	put_entry(0x100, 0, 21);
	put_entry(0x100, 1, 0x83);
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 1);
}

/* jmp *%rax, and words of data: the addresses of the mov behind it and, if it is
 * one, of another instruction */
static void begin_computed_goto(int64_t cfa, size_t second)
{
	module_begin();
	m.exec = true;
	func("f", 0); func_cfa(cfa);
	put(MOV_EAX_1, JMP_RAX, MOV_EAX_1, NOP, ADD_RSP_40, RET); func_end();
	memcpy(m.rodata, &(uint64_t){ TEXT + 7 }, 8);
	memcpy(m.rodata + 8, &(uint64_t){ TEXT + second }, 8);
	module_plan("f");
}

static void computed_goto(void)
{
	begin_computed_goto(48, 12);
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 1);
}

static void computed_goto_with_frame_pointer(void)
{
	begin_computed_goto(FRAME_POINTER, 12);
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 1);
}

static void computed_goto_in_leaf(void)
{
	begin_computed_goto(8, 12);
	CHECK(entry_only(REFUSED_JUMP_TABLE));
}

/* A number that happens to be an address, and one that is not even that: one is enough to
 * lead inside. */
static void no_computed_goto(void)
{
	begin_computed_goto(8, 9);
	CHECK(entry_only(REFUSED_JUMP_TABLE));
	begin_computed_goto(48, 9);
	CHECK(entry_only(REFUSED_JUMP_TABLE));
}

int main(void)
{
	jump_table_pic();
	jump_table_target_in_window();
	jump_table_has_a_hole();
	jump_table_to_entry();
	jump_table_unresolved();
	tail_call_without_unwind();
	names_a_place_of_its_own();
	names_a_place_by_its_number();
	calls_a_place_of_its_own();
	sum_without_a_table();
	table_loaded_before_a_loop();
	loaded_beside_a_table();
	tail_call_of_a_case();
	another_jump_beside_the_table();
	tail_call_by_an_array();
	jump_table_absolute();
	jump_table_leads_out_at_last();
	jump_table_named_before();
	tables_in_a_row();
	table_in_a_row_to_entry();
	indirect_tail_call();
	indirect_tail_call_through_slot();
	leaf_switch_is_no_tail_call();
	notrack_is_no_tail_call();
	jump_table_into_padding();
	jump_table_to_nameless_fragment();
	jump_table_of_the_next();
	computed_goto();
	computed_goto_with_frame_pointer();
	computed_goto_in_leaf();
	no_computed_goto();
	module_end();
	return failures != 0;
}

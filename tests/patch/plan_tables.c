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

static void jump_table_ends_outside(void)
{
	begin_switch(48);
	put_entry(0x100, 0, 21);
	put_entry(0x100, 1, 0x2000);
	put_entry(0x100, 2, 31);
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
}

static void jump_table_to_entry(void)
{
	begin_switch(48);
	put_entry(0x100, 0, 0);
	module_plan("f");
	CHECK(refused(REFUSED_LOOP_ENTRY));
}

static void jump_table_unresolved(void)
{
	module_begin();
	func("f", 0); func_cfa(48); put(MOV_EAX_1, JMP_RAX, MOV_EAX_1, ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_JUMP_TABLE));
}

static void jump_table_without_unwind(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, JMP_RAX, MOV_EAX_1, ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_JUMP_TABLE));
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
	CHECK(entry_only(REFUSED_JUMP_TABLE));
}

/* jmp *%rax, and a word of data that is the address of the mov behind it */
static void begin_computed_goto(int64_t cfa)
{
	module_begin();
	m.exec = true;
	func("f", 0); func_cfa(cfa);
	put(MOV_EAX_1, JMP_RAX, MOV_EAX_1, NOP, ADD_RSP_40, RET); func_end();
	memcpy(m.rodata, &(uint64_t){ TEXT + 7 }, 8);
	module_plan("f");
}

static void computed_goto(void)
{
	begin_computed_goto(48);
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 1);
}

static void computed_goto_with_frame_pointer(void)
{
	begin_computed_goto(FRAME_POINTER);
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 1);
}

static void computed_goto_in_leaf(void)
{
	begin_computed_goto(8);
	CHECK(entry_only(REFUSED_JUMP_TABLE));
}

int main(void)
{
	jump_table_pic();
	jump_table_target_in_window();
	jump_table_ends_outside();
	jump_table_to_entry();
	jump_table_unresolved();
	jump_table_without_unwind();
	jump_table_absolute();
	indirect_tail_call();
	indirect_tail_call_through_slot();
	leaf_switch_is_no_tail_call();
	notrack_is_no_tail_call();
	jump_table_into_padding();
	jump_table_to_nameless_fragment();
	computed_goto();
	computed_goto_with_frame_pointer();
	computed_goto_in_leaf();
	module_end();
	return failures != 0;
}

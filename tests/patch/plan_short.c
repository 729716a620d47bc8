/* SPDX-License-Identifier: MIT */
/*
 * What becomes of a jump that has no room where it should stand?
 * One test per situation that a compiler or a hand has made; each fails if the
 * rule behind it is gone.
 */
#include "tests/patch/insns.h"

static void page_crossing(void)
{
	module_begin();
	func("f", 4094); put(MOV_EAX_1); put_middle(); put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_PAGE_CROSSING));
}

static void exit_moves_before_page(void)
{
	module_begin();
	func("f", 4092 - 53); put(MOV_EAX_1); put_middle(); put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 4089, 8, 0));
}

static void short_jump_to_hole(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, RET); func_end();
	func("g", 3); put(XOR_EAX, RET); func_end();
	put(NOP5, NOP5);
	func("h", 16); put(RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 0, TACTIC_SHORT, 0, 3, 0));
	CHECK(probe()->sites[0].jump.len == 2);
	CHECK(probe()->sites[0].hole.len == 5 && probe()->sites[0].hole.pc == TEXT + 6);
}

static void hole_shared_by_two(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, RET); func_end();
	func("g", 3); put(XOR_EAX, RET); func_end();
	func("h", 6); put(MOV_EAX_1, RET); func_end();
	put(NOP5, NOP3);
	func("i", 20); put(RET); func_end();
	module_plan_with(NULL, "f", "g", NULL);
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 0, TACTIC_SHORT, 0, 3, 0));
	CHECK(m.plan->probes[1].refusal == REFUSED_TOO_SHORT);
}

static void full_jumps_come_first(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, RET); func_end();
	func("g", 3); put(XOR_EAX, RET); func_end();
	put(NOP5);
	func("h", 11); put(RET); func_end();
	module_plan_with(NULL, "f", "g", NULL);
	CHECK(refused(REFUSED_TOO_SHORT));
	CHECK(site_is(&m.plan->probes[1], 0, TACTIC_JUMP, 3, 3, 2));
}

static void hole_taken_earlier(void)
{
	struct range taken = { TEXT + 6, TEXT + 14 };
	struct plan_options o = { .taken = &taken, .ntaken = 1 };

	module_begin();
	func("f", 0); put(XOR_EAX, RET); func_end();
	func("g", 3); put(XOR_EAX, RET); func_end();
	put(NOP5, NOP3);
	func("h", 16); put(RET); func_end();
	module_plan_with(&o, "f", NULL, NULL);
	CHECK(refused(REFUSED_TOO_SHORT));
}

/* There is padding; but code computes an address that may lead anywhere. */
static void padding_that_may_be_run(void)
{
	for (int bound = 0; bound < 2; bound++) {
		module_begin();
		func("f", 0); put(RET); func_end();
		put_n(INT3, 15);
		func("g", 16); put(0x48, 0x8d, 0x05); put_rel32(0);
		if (bound)
			put(0x48, 0x01, 0xf8);	/* add %rdi, %rax */
		put(JMP_RAX); func_end();
		module_plan("f");
		CHECK(refused(bound ? REFUSED_JUMP_TABLE : REFUSED_NONE));
	}
}

static void hole_with_a_target(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, RET); func_end();
	func("g", 3); put(XOR_EAX, RET); func_end();
	put(NOP, NOP, NOP, NOP, NOP, NOP, NOP);
	func("h", 16); put(TEST_EDI); put_je(10); put(RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_TOO_SHORT));
}

static void hole_out_of_reach(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, RET); func_end();
	func("g", 3); put_middle(); put_middle(); put_middle(); put(RET); func_end();
	put(NOP5, NOP5);
	func("h", 0xb0); put(RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_TOO_SHORT));
}

static void failed_exits_release_their_padding(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI); put_rel8(JE, 15); put(ADD_RSP_40, RET, NOP);
	put_rel8(JMP8, 17); put_rel8(JE, 19); put(RET); func_end();
	func("g", 20); put(XOR_EAX, RET); func_end();
	module_plan("f");
	CHECK(probe()->nsites == 1 && probe()->sites[0].nexits == 0);
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
}

/* A function as compilers make them without optimising: its return is too short
 * for a full jump, and the next function follows at once. */
static void begin_unoptimised(void)
{
	module_begin();
	func("f", 0); put(0x55, 0x48, 0x89, 0xe5, XOR_EAX); put_middle(); put_call(0x100);
	put(LEAVE, RET); func_end();
	func("g", m.at); put_middle(); put_middle(); put(RET); func_end();
	func("h", 0x100); put(RET); func_end();
}

static void no_hosts_unless_allowed(void)
{
	begin_unoptimised();
	module_plan("f");
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
}

static void host_makes_room(void)
{
	struct plan_options o = { .hosts = true };

	begin_unoptimised();
	module_plan_with(&o, "f", NULL, NULL);
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nsites == 3 && probe()->sites[0].host);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 42, 12, 0));
	CHECK(probe()->sites[0].nexits == 0 && !probe()->sites[0].entry);
	CHECK(site_is(probe(), 1, TACTIC_SHORT, 59, 2, 0));
	/* not at 6, where an instruction of the host begins */
	CHECK(probe()->sites[1].hole.pc == TEXT + 42 + 5);
}

/* An address leads into f: what stands before and behind there may be copied. */
static void name_part(size_t at)
{
	struct plan_options o = { .hosts = true };

	begin_unoptimised();
	func("i", 0x140); put(0x48, 0x8d, 0x15); put_rel32(at); put(RET); func_end();
	module_plan_with(&o, "f", NULL, NULL);
}

static void host_is_in_the_part_of_its_exit(void)
{
	name_part(39);
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 42, 12, 0) && probe()->sites[0].host);
	name_part(54);
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
	name_part(59);
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
}

static void host_has_no_target_inside(void)
{
	struct plan_options o = { .hosts = true };

	module_begin();
	func("f", 0); put(0x55, 0x48, 0x89, 0xe5, XOR_EAX);
	for (int i = 0; i < 8; i++) {
		put(MOV_RDI_RAX);
		put_rel8(JNE, m.at - 3);
	}
	put_call(0x100); put(LEAVE, RET); func_end();
	func("g", m.at); put_middle(); put_middle(); put(RET); func_end();
	func("h", 0x100); put(RET); func_end();
	module_plan_with(&o, "f", NULL, NULL);
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
}

static void hole_crosses_page(void)
{
	module_begin();
	func("f", 4087); put(XOR_EAX, RET); func_end();
	func("g", 4090); put(XOR_EAX, RET); func_end();
	put(NOP, NOP5);
	func("h", 4099); put(RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_TOO_SHORT));
}

static void hole_in_another_function(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, RET); func_end();
	func("g", 3); put_rel8(JMP8, 15); put(NOP5, NOP5, MOV_EAX_1, RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_TOO_SHORT));
}

static void hole_behind_unknown_code(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, RET); func_end();
	func("g", 3); put(XOR_EAX, RET); func_end();
	put(RET, NOP5, NOP5);	/* perhaps data */
	func("h", 32); put(RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_TOO_SHORT));
}

static void hole_of_host_begins_no_instruction(void)
{
	struct plan_options o = { .hosts = true };

	module_begin();
	func("f", 0); put(0x55, 0x48, 0x89, 0xe5, XOR_EAX);
	for (int i = 0; i < 4; i++)
		put(MOV_EAX_1);
	put_call(0x100); put(LEAVE, RET); func_end();
	func("g", m.at); put_middle(); put_middle(); put(RET); func_end();
	func("h", 0x100); put(RET); func_end();
	module_plan_with(&o, "f", NULL, NULL);
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 11, 15, 0));
	CHECK(probe()->sites[1].hole.pc == TEXT + 11 + 6);
}

static void live_nops_are_no_hole(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, NOP5, NOP5); put_call(0x100); put(LEAVE, RET); func_end();
	func("g", m.at); put_middle(); put_middle(); put(RET); func_end();
	func("h", 0x100); put(RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
}

static void host_has_no_exit_inside(void)
{
	struct plan_options o = { .hosts = true };

	module_begin();
	func("f", 0); put(MOV_EAX_1); put_rel8(JE, 14); put_call(0x100); put(LEAVE, RET);
	put(MOV_EAX_1, MOV_EAX_1); put_je(0x100); put_call(0x100); put_middle();
	put(ADD_RSP_40, RET); func_end();
	func("h", 0x100); put(RET); func_end();
	module_plan_with(&o, "f", NULL, NULL);
	CHECK(entry_only(REFUSED_NONE) && probe()->nexits == 3);
	CHECK(site_is(probe(), 2, TACTIC_JUMP, 24, 6, 0));
}

static void breakpoint_may_go_on(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, INT3, NOP5, NOP5); put_call(0x100);
	put(LEAVE, RET); func_end();
	func("g", m.at); put_middle(); put_middle(); put(RET); func_end();
	func("h", 0x100); put(RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
	CHECK(probe()->nexits == 1);
}

int main(void)
{
	page_crossing();
	exit_moves_before_page();
	short_jump_to_hole();
	hole_shared_by_two();
	full_jumps_come_first();
	hole_taken_earlier();
	padding_that_may_be_run();
	hole_with_a_target();
	hole_out_of_reach();
	failed_exits_release_their_padding();
	no_hosts_unless_allowed();
	host_makes_room();
	host_is_in_the_part_of_its_exit();
	host_has_no_target_inside();
	hole_crosses_page();
	hole_in_another_function();
	hole_behind_unknown_code();
	hole_of_host_begins_no_instruction();
	live_nops_are_no_hole();
	host_has_no_exit_inside();
	breakpoint_may_go_on();
	module_end();
	return failures != 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Where do the jumps of a function stand? One test per situation that a
 * compiler or a hand has made; each fails if the rule behind it is gone.
 */
#include "tests/patch/module.h"

/* Instructions, by their bytes. */
#define PUSH_RBX 0x53
#define POP_RBX 0x5b
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
static void put_middle(void)
{
	for (int i = 0; i < 16; i++)
		put(MOV_RDI_RAX);
}

static const struct site *entry_site(const struct probe *p)
{
	return &p->sites[p->nsites - 1];
}

static bool refused(enum refusal why)
{
	if (probe()->refusal == why)
		return true;
	fprintf(stderr, "refusal is %s, not %s\n", refusal_word(probe()->refusal),
		refusal_word(why));
	return false;
}

static bool entry_only(enum refusal why)
{
	if (!probe()->refusal && probe()->entry_only == why)
		return true;
	fprintf(stderr, "refusal %s, entry-only %s, not %s\n",
		refusal_word(probe()->refusal), refusal_word(probe()->entry_only),
		refusal_word(why));
	return false;
}

/* ---- entries -------------------------------------------------------------- */

static void plain_function(void)
{
	module_begin();
	func("f", 0); put(PUSH_RBX, MOV_EAX_1); put_middle(); put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nsites == 2 && probe()->nexits == 1);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 54, 5, 0));
	CHECK(site_is(probe(), 1, TACTIC_JUMP, 0, 6, 0));
	CHECK(entry_site(probe())->entry && entry_site(probe())->nexits == 0);
	CHECK(probe()->sites[0].nexits == 1 && !probe()->sites[0].entry);
}

static void short_fn_with_padding(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, RET); func_end();
	put(NOP3, NOP5);
	func("g", 16); put(RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 0, 3, 2));
	CHECK(entry_site(probe())->nexits == 1);
}

static void short_fn_without_padding(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, RET); func_end();
	func("g", 3); put(XOR_EAX, RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_TOO_SHORT));
}

static void zero_bytes_are_no_padding(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, RET); func_end();
	put_n(0, 13);
	func("g", 16); put(RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_TOO_SHORT));
}

static void padding_that_falls_on(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, NOP, NOP, NOP, NOP, NOP, RET); func_end();
	func("g", 8); put(MOV_EAX_1, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 0, 8, 0));
}

static void jump_into_prologue(void)
{
	module_begin();
	func("f", 0);
	put(PUSH_RBX); put(MOV_RDI_RAX); put(XOR_EAX); put_middle();
	put_rel8(JNE, 1); put(POP_RBX, RET, NOP3); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
}

static void jump_behind_window(void)
{
	module_begin();
	func("f", 0);
	put(PUSH_RBX); put(MOV_RDI_RAX); put(XOR_EAX); put_middle();
	put_rel8(JNE, 6); put_middle(); put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 1, TACTIC_JUMP, 0, 6, 0));
}

static void branch_from_unselected_function(void)
{
	module_begin();
	func("f", 0); put(PUSH_RBX, MOV_RDI_RAX, XOR_EAX); put_middle(); put(RET); func_end();
	func("g", 0x80); put(TEST_EDI); put_je(4); put(RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
}

static void alias_plus_3(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, NOP, MOV_EAX_1); put_middle(); put(ADD_RSP_40, RET); func_end();
	func("f_inner", 3); m.at = 0x3d; func_end();
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
}

static void symbol_in_the_middle(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, NOP); put_middle(); put(ADD_RSP_40, RET); func_end();
	func("f_inner", 6); m.at = 0x3b; func_end();
	module_plan_with(NULL, "f", "f_inner", NULL);
	CHECK(entry_only(REFUSED_SHARED_BODY));
	CHECK(m.plan->probes[1].entry_only == REFUSED_SHARED_BODY);
}

static void endbr64(void)
{
	module_begin();
	func("f", 0); put(ENDBR64, PUSH_RBX); put_middle(); put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(site_is(probe(), 1, TACTIC_JUMP, 0, 5, 0));
	CHECK(entry_site(probe())->ninsns == 2);
}

static void landing_pad_in_window(void)
{
	module_begin();
	func("f", 0); put(PUSH_RBX, ENDBR64); put_middle(); put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
}

static void pointer_in_window(void)
{
	module_begin();
	m.exec = true;
	func("f", 0); put(PUSH_RBX, MOV_RDI_RAX, XOR_EAX); put_middle(); put(ADD_RSP_40, RET); func_end();
	memcpy(m.rodata, &(uint64_t){ TEXT + 1 }, 8);
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
}

static void address_taken_in_window(void)
{
	module_begin();
	func("f", 0); put(PUSH_RBX, MOV_RDI_RAX, XOR_EAX); put_middle(); put(ADD_RSP_40, RET); func_end();
	func("g", 0x80); put_lea(1 + TEXT - RODATA); put(RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
}

static void lea_rip(void)
{
	module_begin();
	func("f", 0); put_lea(0x100); put_middle(); put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(site_is(probe(), 1, TACTIC_JUMP, 0, 7, 0));
}

static void call_last(void)
{
	module_begin();
	func("f", 0); put(PUSH_RBX); put_call(0x80); put_middle(); put(ADD_RSP_40, RET); func_end();
	func("g", 0x80); put(MOV_EAX_1, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 1, TACTIC_JUMP, 0, 6, 0));
}

static void call_inside_refused(void)
{
	module_begin();
	func("f", 0); put(CALL_RAX, XOR_EAX, NOP); put_middle(); put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_CALL_INSIDE));
}

static void syscall_inside(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, SYSCALL, XOR_EAX); put_middle(); put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_SYSCALL_INSIDE));
}

static void trap_inside(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, 0x0f, 0x0b, XOR_EAX); put_middle(); put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_UNMOVABLE));
}

static void unknown_inside(void)
{
	module_begin();
	/* wrpkru, which capstone 4 does not know */
	func("f", 0); put(0x0f, 0x01, 0xef, XOR_EAX); put_middle(); put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_UNKNOWN_INSN));
}

static void undecodable_text(void)
{
	module_begin();
	func("f", 0); put(0x06, 0x06, 0x06, 0x06, 0x06, RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_UNREADABLE));
}

static void undecodable_middle(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, NOP, 0x06, 0x06, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_UNREADABLE));
}

static void loop_entry(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_middle(); put_rel8(JNE, 0); put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_LOOP_ENTRY));
}

static void recursion_is_no_loop(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_middle(); put_call(0); put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
}

static void asked(void)
{
	struct plan_options o = { .entry_only = true };

	module_begin();
	func("f", 0); put(MOV_EAX_1, RET); func_end();
	module_plan_with(&o, "f", NULL, NULL);
	CHECK(entry_only(REFUSED_ENTRY_ONLY_ASKED));
	CHECK(probe()->nsites == 1 && probe()->nexits == 1);
	CHECK(probe()->sites[0].nexits == 0);
}

/* ---- exits ---------------------------------------------------------------- */

static void ret_with_padding(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_middle(); put_call(0x80); put(RET); func_end();
	put(NOP3, NOP);
	func("g", 0x80); put(RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 58, 1, 4));
}

static void begins_at_return_address(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_middle(); put_call(0x80); put(ADD_RSP_40, RET); func_end();
	func("g", 0x80); put(RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 58, 5, 0));
}

static void begins_at_target(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI); put_rel8(JE, 9 + 48); put_middle();
	put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 57, 5, 0));
}

static void target_at_return(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI); put_rel8(JE, 13 + 48); put_middle();
	put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
	CHECK(probe()->nsites == 1 && probe()->nexits == 1);
}

static void two_exits_one_window(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_middle(); put(TEST_EDI);
	put_je(0x80); put(POP_RBX, RET); func_end();
	func("g", 0x80); put(MOV_EAX_1, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 2 && probe()->nsites == 2);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 55, 8, 0));
	CHECK(probe()->sites[0].nexits == 2);
}

static void straight_line_merged(void)
{
	module_begin();
	func("f", 0); put(ENDBR64, XOR_EAX, RET); func_end();
	func("g", 7); put(MOV_EAX_1, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nsites == 1 && site_is(probe(), 0, TACTIC_JUMP, 0, 7, 0));
	CHECK(probe()->sites[0].entry && probe()->sites[0].nexits == 1);
}

static void conditional_tail_jump(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_middle(); put(TEST_EDI);
	put_je(0x80); put_middle(); put(ADD_RSP_40, RET); func_end();
	func("g", 0x80); put(MOV_EAX_1, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 2 && probe()->nsites == 3);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 55, 6, 0));
	CHECK(probe()->sites[0].nexits == 1);
}

static void tail_jump_to_linkage_stub(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_middle(); put_jmp(0x80); func_end();
	m.at = 0x80; put(0xff, 0x25, 0, 0, 0, 0);
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 53, 5, 0));
}

static void call_before_return_without_room(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_middle(); put_call(0x80); put(POP_RBX, RET); func_end();
	func("g", 60); put(MOV_EAX_1, RET); func_end();
	func("h", 0x80); put(MOV_EAX_1, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
}

static void never_returns(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_call(0x80); func_end();
	func("g", 0x80); put(RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NO_EXIT));
	CHECK(probe()->nsites == 1);
}

static void falls_into_the_next(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI); put_middle(); func_end();
	func("g", 55); put(MOV_EAX_1, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_SHARED_BODY));
}

static void jumps_into_the_middle_of_another(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_middle(); put_jmp(0x86); func_end();
	func("g", 0x80); put(MOV_EAX_1, NOP); put_middle(); put(ADD_RSP_40, RET); func_end();
	module_plan_with(NULL, "f", "g", NULL);
	CHECK(entry_only(REFUSED_SHARED_BODY));
	CHECK(!m.plan->probes[1].refusal);
	CHECK(m.plan->probes[1].entry_only == REFUSED_SHARED_BODY);
}

static void data_behind_a_jump_is_no_exit(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_middle(); put_rel8(JMP8, 62);
	put(0xb8, RET, RET, RET, RET, RET, RET); put(MOV_EAX_1, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 1);
}

/* ---- fragments ------------------------------------------------------------ */

static void cold_fragment(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI); put_je(0x80); put_middle(); put(ADD_RSP_40, RET); func_end();
	func("f.cold", 0x80); put(MOV_EAX_1); put_jmp(13); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 1);
}

static void exit_in_cold_fragment(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI); put_je(0x80); put_middle(); put(ADD_RSP_40, RET); func_end();
	func("f.cold", 0x80); put(MOV_EAX_1, ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 2 && probe()->nsites == 3);
	CHECK(site_is(probe(), 1, TACTIC_JUMP, 0x85, 5, 0));
}

static void fragment_itself_is_refused(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI); put_je(0x80); put(RET); func_end();
	func("f.cold", 0x80); put(MOV_EAX_1, ADD_RSP_40, RET); func_end();
	module_plan("f.cold");
	CHECK(refused(REFUSED_SHARED_BODY));
}

/* ---- pages, short jumps and holes ----------------------------------------- */

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
	put(NOP3, NOP);
	func("h", 10); put(RET); func_end();
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
	put_rel8(JMP8, 17); put_rel8(JE, 18); put(RET); func_end();
	func("g", 20); put(XOR_EAX, RET); func_end();
	module_plan("f");
	CHECK(probe()->nsites == 1 && probe()->sites[0].nexits == 0);
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
}

/* ---- indirect jumps ------------------------------------------------------- */

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
	func("f", 0); func_cfa(8); put(MOV_EAX_1); put_middle(); put(MOV_RDI_RAX, JMP_RAX); func_end();
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
	func("f", 0); func_cfa(8); put(ENDBR64, MOV_EAX_1, NOTRACK_JMP_RAX, MOV_EAX_1, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_JUMP_TABLE));
}

int main(void)
{
	plain_function();
	short_fn_with_padding();
	short_fn_without_padding();
	zero_bytes_are_no_padding();
	padding_that_falls_on();
	jump_into_prologue();
	jump_behind_window();
	branch_from_unselected_function();
	alias_plus_3();
	symbol_in_the_middle();
	endbr64();
	landing_pad_in_window();
	pointer_in_window();
	address_taken_in_window();
	lea_rip();
	call_last();
	call_inside_refused();
	syscall_inside();
	trap_inside();
	unknown_inside();
	undecodable_text();
	undecodable_middle();
	loop_entry();
	recursion_is_no_loop();
	asked();

	ret_with_padding();
	begins_at_return_address();
	begins_at_target();
	target_at_return();
	two_exits_one_window();
	straight_line_merged();
	conditional_tail_jump();
	tail_jump_to_linkage_stub();
	call_before_return_without_room();
	never_returns();
	falls_into_the_next();
	jumps_into_the_middle_of_another();
	data_behind_a_jump_is_no_exit();

	cold_fragment();
	exit_in_cold_fragment();
	fragment_itself_is_refused();

	page_crossing();
	exit_moves_before_page();
	short_jump_to_hole();
	hole_shared_by_two();
	full_jumps_come_first();
	hole_taken_earlier();
	hole_with_a_target();
	hole_out_of_reach();
	failed_exits_release_their_padding();

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
	module_end();
	return failures != 0;
}

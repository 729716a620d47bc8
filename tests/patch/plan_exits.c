/* SPDX-License-Identifier: MIT */
/*
 * Where do the jumps of exits stand, and what is an exit?
 * One test per situation that a compiler or a hand has made; each fails if the
 * rule behind it is gone.
 */
#include "tests/patch/insns.h"

/* ---- exits -------------------------------------------------------------- */

static void ret_with_padding(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_middle(); put_call(0x80); put(POP_RBX, RET); func_end();
	put(NOP3, NOP);
	func("g", 0x80); put(RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 59, 1, 4));
}

/* gcc's __morestack goes on behind the return, so that what pads there is not dead. */
static void ret_behind_a_call(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_middle(); put_call(0x80); put(RET); func_end();
	put(NOP3, NOP);
	func("g", 0x80); put(RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
}

static void begins_at_return_address(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_middle(); put_call(0x80);
	put(ADD_RSP_40, RET); func_end();
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

/* How many instructions of that kind of a site's stub lead to `dest`? */
static size_t count_leading(struct placed_site *s, const struct routines *to, uint8_t kind,
			    raddr_t dest)
{
	uint8_t out[512];
	struct insn in;
	size_t left, n = 0;

	s->stub = TEXT + 0x90000;
	if (plan_place(m.arch, &m.probes[0], s, symbols_text(m.symbols, s->site.pc, &left), to,
		       out, sizeof(out)))
		return SIZE_MAX;
	for (size_t off = 0; off < s->stub_size; off += in.size) {
		if (m.arch->measure(out + off, s->stub_size - off, s->stub + off, &in))
			return SIZE_MAX;
		n += in.kind == kind && in.dest == dest;
	}
	return n;
}

/* A plain return the routine makes; a tail jump, or what pops arguments, the stub. */
static void routine_returns(void)
{
	struct routines to = { .entry = TEXT + 0x80000, .exit = TEXT + 0x80100,
			       .mark = TEXT + 0x80200, .leave = TEXT + 0x80300 };

	two_exits_one_window();
	CHECK(count_leading(&m.probes[0].sites[0], &to, INSN_CALL, to.exit) == 1);
	CHECK(count_leading(&m.probes[0].sites[0], &to, INSN_JUMP, to.leave) == 1);
	to.leave = 0;
	CHECK(count_leading(&m.probes[0].sites[0], &to, INSN_CALL, to.exit) == 2);
	to.leave = TEXT + 0x80300;
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_middle(); put(ADD_RSP_40, 0xc2, 8, 0); func_end();
	module_plan("f");
	CHECK(count_leading(&m.probes[0].sites[0], &to, INSN_CALL, to.exit) == 1);
	CHECK(count_leading(&m.probes[0].sites[0], &to, INSN_JUMP, to.leave) == 0);
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
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 0);
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

/* As strcasecmp of glibc does, by way of nops. */
static void falls_into_an_aligned_one(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI); put_middle(); put(NOP, NOP); func_end();
	func("g", 57); put(MOV_EAX_1, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_SHARED_BODY));
	/* But not from behind a call of what never returns. */
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_call(0x80); put(NOP, NOP); func_end();
	func("g", 0x80); put(RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
}

static void plan_falling(int64_t cfa, bool fragment)
{
	module_begin();
	func("f", 0); func_cfa(cfa);
	put(MOV_EAX_1, TEST_EDI); put_middle(); put(NOP, NOP); func_end();
	put(NOP3, NOP);
	func(fragment ? "g.cold" : "g", 61); put(MOV_EAX_1, RET); func_end();
	if (fragment) {
		func("g", 0x80); put_jmp(61); func_end();
	}
	module_plan("f");
}

/* To fall into another function's start, with no frame up, is a tail call. */
static void falls_as_it_came(void)
{
	plan_falling(8, false);
	CHECK(entry_only(REFUSED_NONE) && probe()->nexits == 1 && probe()->nsites == 2);
	CHECK(probe()->sites[0].leaves && probe()->sites[0].nexits == 1);
	CHECK(probe()->sites[0].pc + probe()->sites[0].window == TEXT + 57);
	CHECK(!probe()->sites[0].dead);
	plan_falling(48, false);
	CHECK(entry_only(REFUSED_SHARED_BODY));
	plan_falling(8, true);
	CHECK(entry_only(REFUSED_SHARED_BODY));
	/* All of it is one site. */
	module_begin();
	func("f", 0); func_cfa(8); put(0x48, 0x39, 0xd1); put_je(0x80); func_end();
	put(NOP5, NOP, NOP);
	func("g", 16); put(MOV_EAX_1, RET); func_end();
	func("h", 0x80); put(RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE) && probe()->nexits == 2 && probe()->nsites == 1);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 0, 9, 0) && probe()->sites[0].leaves);
	/* What is between them is code that does something. */
	module_begin();
	func("f", 0); func_cfa(8); put(MOV_EAX_1, TEST_EDI); put_middle(); func_end();
	put(XOR_EAX);
	func("g", 57); put(MOV_EAX_1, RET); func_end();
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

/* ---- fragments ---------------------------------------------------------- */

static void cold_fragment(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI); put_je(0x80); put_middle();
	put(ADD_RSP_40, RET); func_end();
	func("f.cold", 0x80); put(MOV_EAX_1); put_jmp(13); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 1);
}

static void exit_in_cold_fragment(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI); put_je(0x80); put_middle();
	put(ADD_RSP_40, RET); func_end();
	func("f.cold", 0x80); put(MOV_EAX_1, ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 2 && probe()->nsites == 3);
	CHECK(site_is(probe(), 1, TACTIC_JUMP, 0x85, 5, 0));
}

/* f's unlikely half has no bytes: g's begins there, and is g's alone. */
static void empty_fragment_is_nobodys(void)
{
	static const char *const names[] = { "f", "g" };

	for (int i = 0; i < 2; i++) {
		module_begin();
		func("f", 0); put(MOV_EAX_1, TEST_EDI); put_je(0x200); put_middle();
		put(ADD_RSP_40, RET); func_end();
		func("g", 0x100); put(MOV_EAX_1, TEST_EDI); put_je(0x200); put_middle();
		put(ADD_RSP_40, RET); func_end();
		func("f.cold", 0x200);
		func("g.cold", 0x200); put(MOV_EAX_1, ADD_RSP_40, RET); func_end();
		module_plan(names[i]);
		CHECK(entry_only(REFUSED_NONE));
		CHECK(probe()->nexits == (size_t)i + 1);
	}
}

/* But a function that begins there is called. */
static void empty_fragment_at_function(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI); put_je(0x200); put_middle();
	put(ADD_RSP_40, RET); func_end();
	func("f.cold", 0x200);
	func("g", 0x200); put(MOV_EAX_1, ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 2);
}

/* One that has bytes is entered by what jumps there. */
static void shared_fragment_is_shared(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI); put_je(0x200); put_middle();
	put(ADD_RSP_40, RET); func_end();
	func("g", 0x100); put(MOV_EAX_1, TEST_EDI); put_je(0x200); put_middle();
	put(ADD_RSP_40, RET); func_end();
	func("g.cold", 0x200); put(MOV_EAX_1, ADD_RSP_40, RET); func_end();
	module_plan("g");
	CHECK(entry_only(REFUSED_SHARED_BODY));
}

static void fragment_itself_is_refused(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI); put_je(0x80); put(RET); func_end();
	func("f.cold", 0x80); put(MOV_EAX_1, ADD_RSP_40, RET); func_end();
	module_plan("f.cold");
	CHECK(refused(REFUSED_FRAGMENT));
}

static void near_exit_joins(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, MOV_RDI_RAX, ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE) && probe()->nsites == 1);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 0, 13, 0));
}

static void far_exit_joins_if_it_must(void)
{
	module_begin();
	/* movabs takes the room that the exit would need */
	func("f", 0); put(XOR_EAX, XOR_EAX, 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8);
	put(MOV_RDI_RAX, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE) && probe()->nsites == 1);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 0, 18, 0));
}

static void conditional_exit_goes_on(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI); put_call(0x60); put_rel8(JE, 0x60);
	put_middle(); put(ADD_RSP_40, RET); func_end();
	func("g", 0x60); put(MOV_EAX_1, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE) && probe()->nexits == 2);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 12, 5, 0));
}

static void calls_its_own_middle(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI); put_call(7); put_middle();
	put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_SHARED_BODY));
}

static void nameless_fragment(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI); put_je(0x83); put_middle();
	put(ADD_RSP_40, RET); func_end();
	fragment(0x83); put(MOV_EAX_1, ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE) && probe()->nexits == 2);
}

static void nameless_fragment_of_two(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI); put_je(0x83); put_middle();
	put(ADD_RSP_40, RET); func_end();
	fragment(0x83); put(MOV_EAX_1, ADD_RSP_40, RET); func_end();
	func("g", 0x100); put(MOV_EAX_1, TEST_EDI); put_je(0x83); put_middle();
	put(ADD_RSP_40, RET); func_end();
	module_plan_with(NULL, "f", "g", NULL);
	CHECK(entry_only(REFUSED_SHARED_BODY));
	CHECK(m.plan->probes[1].entry_only == REFUSED_SHARED_BODY);
}

/* Known by its unwind entry alone, and outside of any frame like a function.
 * What calls, names or jumps to it else? */
enum half { HALF, HALF_LEADS_BACK, HALF_JUMPED_TO, HALF_CALLED, HALF_TAKEN, HALF_ALIGNED };

static void unlikely_half(enum half how)
{
	size_t at = how == HALF_ALIGNED ? 0x80 : 0x83;
	bool jumps = how == HALF_LEADS_BACK || how == HALF_JUMPED_TO;

	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI);
	if (jumps) {
		put_rel8(JE, 14); put_jmp(at);
	} else {
		put_je(at);
	}
	put_middle(); put(ADD_RSP_40, RET); func_end();
	fragment(at); func_cfa(48); put(MOV_EAX_1);
	if (how == HALF_LEADS_BACK)
		put_jmp(14);
	else
		put(ADD_RSP_40, RET);
	func_end();
	func("g", 0x100); put(MOV_EAX_1);
	if (how == HALF_CALLED)
		put_call(at);
	if (how == HALF_TAKEN)
		put_lea(at + TEXT - RODATA);
	put_middle(); put(RET); func_end();
	module_plan(how == HALF_ALIGNED ? "fn_10080" : "fn_10083");
}

static void halves_of_functions(void)
{
	unlikely_half(HALF);
	CHECK(refused(REFUSED_FRAGMENT));
	unlikely_half(HALF_LEADS_BACK);
	CHECK(refused(REFUSED_FRAGMENT));
	unlikely_half(HALF_JUMPED_TO);
	CHECK(entry_only(REFUSED_NONE));
	unlikely_half(HALF_CALLED);
	CHECK(entry_only(REFUSED_NONE));
	unlikely_half(HALF_TAKEN);
	CHECK(entry_only(REFUSED_NONE));
	unlikely_half(HALF_ALIGNED);
	CHECK(entry_only(REFUSED_NONE));
}

/* Its exits are its parent's. */
static void exit_in_unlikely_half(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1, TEST_EDI); put_je(0x83); put_middle();
	put(ADD_RSP_40, RET); func_end();
	fragment(0x83); func_cfa(48); put(MOV_EAX_1, ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE) && probe()->nexits == 2);
	CHECK(site_is(probe(), 1, TACTIC_JUMP, 0x88, 5, 0));
}

/* A path that ends with a call which never returns has a jump behind it, to the
 * end of f's piece; g's begins there. */
static void jump_to_the_end_of_a_piece(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_je(0x83); put_rel8(JE, 23); put_call(0x100);
	put_jmp(0x8d); put(MOV_EAX_1, ADD_RSP_40, RET); func_end();
	func("g", 0x40); put(MOV_EAX_1); put_je(0x8d); put(MOV_EAX_1, ADD_RSP_40, RET); func_end();
	fragment(0x83); put_call(0x100); put_jmp(23); func_end();
	fragment(0x8d); put_call(0x100); func_end();
	func("h", 0x100); put_middle(); put(RET); func_end();
	module_plan_with(NULL, "f", "g", NULL);
	for (size_t i = 0; i < 2; i++)
		CHECK(!m.plan->probes[i].refusal && !m.plan->probes[i].entry_only &&
		      m.plan->probes[i].nexits == 1);
}

/* And not, if another function jumps there. */
static void jump_to_the_end_of_another_ones_piece(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_je(0x83); put(MOV_EAX_1, ADD_RSP_40, RET); func_end();
	func("g", 0x40); put(MOV_EAX_1); put_je(0x8d); put(MOV_EAX_1, ADD_RSP_40, RET); func_end();
	func("k", 0x60); put(MOV_EAX_1); put_je(0x8d); put(MOV_EAX_1, ADD_RSP_40, RET); func_end();
	fragment(0x83); put_call(0x100); put_jmp(11); func_end();
	fragment(0x8d); put_call(0x100); func_end();
	func("h", 0x100); put_middle(); put(RET); func_end();
	module_plan_with(NULL, "f", "g", "k");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(m.plan->probes[1].entry_only == REFUSED_SHARED_BODY);
	CHECK(m.plan->probes[2].entry_only == REFUSED_SHARED_BODY);
}

int main(void)
{
	ret_with_padding();
	ret_behind_a_call();
	begins_at_return_address();
	begins_at_target();
	two_exits_one_window();
	routine_returns();
	straight_line_merged();
	conditional_tail_jump();
	tail_jump_to_linkage_stub();
	call_before_return_without_room();
	never_returns();
	falls_into_the_next();
	falls_into_an_aligned_one();
	falls_as_it_came();
	jumps_into_the_middle_of_another();
	data_behind_a_jump_is_no_exit();
	cold_fragment();
	exit_in_cold_fragment();
	empty_fragment_is_nobodys();
	empty_fragment_at_function();
	shared_fragment_is_shared();
	fragment_itself_is_refused();
	near_exit_joins();
	far_exit_joins_if_it_must();
	conditional_exit_goes_on();
	calls_its_own_middle();
	nameless_fragment();
	nameless_fragment_of_two();
	halves_of_functions();
	exit_in_unlikely_half();
	jump_to_the_end_of_a_piece();
	jump_to_the_end_of_another_ones_piece();
	module_end();
	return failures != 0;
}

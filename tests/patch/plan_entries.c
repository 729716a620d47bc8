/* SPDX-License-Identifier: MIT */
/*
 * Where does the jump of an entry stand?
 * One test per situation that a compiler or a hand has made; each fails if the
 * rule behind it is gone.
 */
#include "tests/patch/insns.h"

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
	func("f", 0); put(PUSH_RBX, MOV_RDI_RAX, XOR_EAX); put_middle();
	put(ADD_RSP_40, RET); func_end();
	memcpy(m.rodata, &(uint64_t){ TEXT + 1 }, 8);
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
}

static void address_taken_in_window(void)
{
	module_begin();
	func("f", 0); put(PUSH_RBX, MOV_RDI_RAX, XOR_EAX); put_middle();
	put(ADD_RSP_40, RET); func_end();
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
	func("f", 0); put(XOR_EAX, SYSCALL, XOR_EAX); put_middle();
	put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_SYSCALL_INSIDE));
}

static void trap_inside(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, 0x0f, 0x0b, XOR_EAX); put_middle();
	put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_UNMOVABLE));
}

/* What cannot happen, as compilers make it; nothing follows. */
static void plan_stop(uint8_t first, uint8_t second, uint64_t caught)
{
	const struct plan_options o = { .caught = caught };

	module_begin();
	func("f", 0); put(first, second); put_n(NOP, 6); func_end();
	module_plan_with(&o, "f", NULL, NULL);
}

static void stops_at_once(void)
{
	enum { ILL = 4, SEGV = 11 };

	plan_stop(0x0f, 0x0b, ~(1ull << (ILL - 1)));
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nsites == 1 && !probe()->nexits && probe()->sites[0].dead == 3);
	plan_stop(0x0f, 0x0b, 1ull << (ILL - 1));	/* the program handles it */
	CHECK(refused(REFUSED_UNMOVABLE));
	plan_stop(0xf4, NOP, ~(1ull << (SEGV - 1)));
	CHECK(entry_only(REFUSED_NONE));
	plan_stop(0xf4, NOP, 1ull << (SEGV - 1));
	CHECK(refused(REFUSED_UNMOVABLE));
	plan_stop(INT3, NOP, 0);			/* the program's breakpoint */
	CHECK(refused(REFUSED_UNMOVABLE));
}

/* A handler goes on behind the jump, all of it. */
static void goes_on_behind_a_stop(void)
{
	const struct routines to = { .entry = TEXT + 0x80000, .exit = TEXT + 0x80100,
				     .mark = TEXT + 0x80200 };
	uint8_t code[256], jump[ARCH_JUMP_MAX];

	plan_stop(0x0f, 0x0b, 0);
	struct placed_site *s = &m.probes[0].sites[0];

	s->stub = TEXT + 0x90000;
	CHECK(!plan_place(m.arch, &m.probes[0], s, m.text, &to, code, sizeof(code)));
	CHECK(m.arch->jump(s->stub + s->stub_size - 5, TEXT + 5, jump) == 5);
	CHECK(s->stub_size > 5 && memcmp(code + s->stub_size - 5, jump, 5) == 0);
}

static void unknown_inside(void)
{
	module_begin();
	/* wrpkru, which capstone 4 does not know */
	func("f", 0); put(0x0f, 0x01, 0xef, XOR_EAX); put_middle();
	put(ADD_RSP_40, RET); func_end();
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

static void pinned_inside(void)
{
	module_begin();
	/* mov 0(%eip),%rax: a PC of 32 bits */
	func("f", 0); put(0x67, 0x48, 0x8b, 0x05, 0, 0, 0, 0); put_middle();
	put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_UNMOVABLE));
}

static void code_behind_a_return(void)
{
	module_begin();
	func("f", 0); put(RET, MOV_EAX_1, MOV_EAX_1, RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_TOO_SHORT));
}

static void padding_of_an_enclosing_function(void)
{
	module_begin();
	func("outer", 0); put_middle(); put(RET); m.at = 0x60; put(XOR_EAX, RET, NOP5, NOP5);
	put(MOV_EAX_1, RET); func_end();
	func("f", 0x60); m.at = 0x63; func_end();
	module_plan("f");
	CHECK(refused(REFUSED_TOO_SHORT));
}

static void window_taken_earlier(void)
{
	struct range taken = { TEXT + 4, TEXT + 9 };
	struct plan_options o = { .taken = &taken, .ntaken = 1 };

	module_begin();
	func("f", 0); put(MOV_EAX_1); put_middle(); put(ADD_RSP_40, RET); func_end();
	module_plan_with(&o, "f", NULL, NULL);
	CHECK(refused(REFUSED_TOO_SHORT));
}

int main(void)
{
	plain_function();
	short_fn_with_padding();
	short_fn_without_padding();
	zero_bytes_are_no_padding();
	padding_that_falls_on();
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
	stops_at_once();
	goes_on_behind_a_stop();
	unknown_inside();
	undecodable_text();
	undecodable_middle();
	recursion_is_no_loop();
	asked();
	pinned_inside();
	code_behind_a_return();
	padding_of_an_enclosing_function();
	window_taken_earlier();
	module_end();
	return failures != 0;
}

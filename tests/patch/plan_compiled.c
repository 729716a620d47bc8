/* SPDX-License-Identifier: MIT */
/*
 * What becomes of the places that compilers leave for tracers?
 * One test per situation; each fails if the rule behind it is gone.
 */
#include "tests/patch/insns.h"
#include "tests/patch/rules.h"

#define NOP5_CLANG 0x0f, 0x1f, 0x44, 0x00, 0x08
#define SLED_NOP9 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00
#define SLED_NOP10 0x2e, SLED_NOP9

/* Each ends like most functions do. */
static void put_body(void)
{
	put_middle(); put(ADD_RSP_40, RET);
}

static void put_entry_sled(void)
{
	sled(0);
	put(JMP8, 9, SLED_NOP9);
}

static void put_exit_sled(void)
{
	sled(1);
	put(RET, SLED_NOP10);
}

static void mcount_at(size_t off)
{
	func("mcount", off); put(RET); func_end();
}

static void nops_behind_landing_pad(void)
{
	module_begin();
	m.exec = true;
	func("f", 0); put(ENDBR64); listed(); put(NOP, NOP, NOP, NOP, NOP);
	put_body(); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 1, TACTIC_SITE, 4, 5, 0));
	CHECK(entry_site(probe())->ninsns == 5);
	CHECK(rules_broken(m.plan) == 0);	/* a PC between them is moved */
}

static void one_nop(void)
{
	module_begin();
	func("f", 0); put(NOP5_CLANG); put_body(); func_end();
	module_plan("f");
	CHECK(site_is(probe(), 1, TACTIC_SITE, 0, 5, 0));
}

/* Addresses of nops are for what writes there: no jump leads to them. */
static void listed_nops_are_no_target(void)
{
	module_begin();
	m.exec = true;
	func("f", 0); put(ENDBR64); listed(); put(NOP, NOP); put_body(); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 1, TACTIC_JUMP, 0, 5, 0));
}

static void nops_in_front(void)
{
	module_begin();
	m.exec = true;
	func("g", 0); put_body(); func_end();
	m.at += 3; listed(); put(NOP, NOP);
	func("f", m.at); put(NOP, NOP, NOP, NOP, NOP, NOP); put_body(); func_end();
	module_plan("f");
	CHECK(site_is(probe(), 1, TACTIC_SITE, 58, 5, 0));
}

static void branch_between_nops(void)
{
	module_begin();
	func("f", 0); put(NOP, NOP, NOP, NOP, NOP); put_middle();
	put_rel8(JNE, 3); put_middle(); put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE) && probe()->linked && entry_site(probe())->level == 1);
}

static void jump_to_behind_nops(void)
{
	module_begin();
	func("f", 0); put(ENDBR64, NOP5); put_middle();
	put_rel8(JNE, 9); put_middle(); put(ADD_RSP_40, RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 1, TACTIC_SITE, 4, 5, 0));
}

static void fentry_call(void)
{
	module_begin();
	func("f", 0); put(ENDBR64); put_call(0x100); put_body(); func_end();
	mcount_at(0x100);
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 1, TACTIC_SITE, 4, 5, 0));
}

static void other_call(void)
{
	module_begin();
	func("f", 0); put(ENDBR64); put_call(0x100); put_body(); func_end();
	func("g", 0x100); put(RET); func_end();
	module_plan("f");
	CHECK(site_is(probe(), 1, TACTIC_JUMP, 0, 9, 0));
}

/* push %rbp; mov %rsp, %rbp; call mcount */
static void mcount_behind_frame(void)
{
	module_begin();
	func("f", 0); put(0x55, 0x48, 0x89, 0xe5); put_call(0x100); put_body(); func_end();
	mcount_at(0x100);
	module_plan("f");
	CHECK(site_is(probe(), 1, TACTIC_SITE, 0, 9, 0));
}

static void mcount_out_of_the_way(void)
{
	module_begin();
	func("f", 0); put(0x55, 0x48, 0x89, 0xe5, PUSH_RBX); put_call(0x100);
	put_body(); func_end();
	mcount_at(0x100);
	module_plan("f");
	CHECK(site_is(probe(), 1, TACTIC_JUMP, 0, 5, 0));
}

/* Is the last that the stub does, but for the jump back, to record an exit? */
static bool records_exit(struct placed_site *s)
{
	struct routines to = { .entry = s->stub + 4096, .exit = s->stub + 8192 };
	uint8_t out[STUB_CAP];
	struct insn in = { .size = 1 };
	bool last = false;
	size_t left;

	if (plan_place(m.arch, &m.probes[0], s, symbols_text(m.symbols, s->site.pc, &left), &to,
		       out, sizeof(out)))
		return false;
	for (size_t off = 0; off < s->stub_size; off += in.size) {
		if (m.arch->measure(out + off, s->stub_size - off, s->stub + off, &in))
			return false;
		if (in.kind == INSN_CALL)
			last = in.dest == to.exit;
		else if (in.kind == INSN_JUMP)
			return last && in.dest == s->site.pc + s->site.window;
	}
	return false;
}

static void sleds_stay(void)
{
	module_begin();
	func("f", 0); put_entry_sled(); put_middle(); put(ADD_RSP_40); put_exit_sled();
	func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nexits == 1 && probe()->nsites == 2);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 56, 7, 0));
	CHECK(probe()->sites[0].leaves && probe()->sites[0].nexits == 1);
	CHECK(site_is(probe(), 1, TACTIC_JUMP, 11, 6, 0));
	CHECK(!entry_site(probe())->leaves);
	CHECK(rules_broken(m.plan) == 0);
	CHECK(records_exit(&m.probes[0].sites[0]) && !records_exit(placed_entry()));
}

static void sleds_behind_landing_pad(void)
{
	module_begin();
	func("f", 0); put(ENDBR64); put_entry_sled(); put(MOV_EAX_1); put_exit_sled();
	func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(probe()->nsites == 1 && probe()->sites[0].leaves);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 15, 5, 0));
}

/* A thread that arrives at the return by a jump leaves by that. */
static void jump_to_exit_sled(void)
{
	module_begin();
	func("f", 0); put_entry_sled(); put_middle(); put_rel8(JNE, 72); put(ADD_RSP_40);
	put(MOV_RDI_RAX, MOV_RDI_RAX); put(NOP); put_exit_sled(); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE) && probe()->nexits == 2);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 56, 16, 0));
	CHECK(probe()->sites[0].nexits == 2 && records_exit(&m.probes[0].sites[0]));
	CHECK(rules_broken(m.plan) == 0);
}

/* Control does not fall into the second one. */
static void only_jumps_to_exit_sled(void)
{
	module_begin();
	func("f", 0); put_entry_sled(); put_middle(); put_rel8(JNE, 79);
	put(ADD_RSP_40, NOP, NOP, NOP); put_exit_sled(); put_exit_sled(); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE) && probe()->nsites == 2);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 56, 12, 0));
	CHECK(probe()->sites[0].nexits == 2 && probe()->sites[0].leaves);
}

/* A nop that aligns it is where a jump to it leads; a fall into that is recorded before it, and
 * no jump leads into what is displaced then. */
static void jump_to_nop_before_exit_sled(bool falls)
{
	size_t nop;

	module_begin();
	func("f", 0); put_entry_sled(); put_middle();
	nop = m.at + 2 + sizeof((uint8_t[]){ ADD_RSP_40, MOV_RDI_RAX, RET });
	put_rel8(JNE, nop);
	put(ADD_RSP_40, MOV_RDI_RAX);
	if (falls)
		put(NOP);
	else
		put(RET);
	put(NOP); put_exit_sled(); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE) && probe()->nexits == (falls ? 2 : 3));
	for (size_t i = 0; i < probe()->nsites; i++)
		CHECK(probe()->sites[i].pc + probe()->sites[i].window <= TEXT + nop);
	CHECK(rules_broken(m.plan) == 0);
}

/* A map that is wrong: of nops that are sleds, each would align the next. */
static void jump_to_nops_before_exit_sled(void)
{
	module_begin();
	func("f", 0); put_entry_sled(); put_middle(); put_rel8(JNE, m.at + 13);
	put(ADD_RSP_40, MOV_RDI_RAX, MOV_RDI_RAX, RET);
	put(NOP); sled(1); put(NOP); put_exit_sled(); func_end();
	module_plan("f");
	CHECK(probe()->nexits == 2);
}

/* By a table: lea, movslq, add and jmp; its first entry leads to the return. */
static void table_to_exit_sled(bool leads_there)
{
	int32_t d = (int32_t)(TEXT + (leads_there ? 44 : 32)) - (RODATA + 0x100);

	module_begin();
	func("f", 0); func_cfa(48); put_entry_sled(); put(MOV_EAX_1); put_lea(0x100);
	put(0x48, 0x63, 0x04, 0x82, 0x48, 0x01, 0xd0, JMP_RAX);
	put(MOV_EAX_1); put(NOP5, NOP, NOP); put_exit_sled(); func_end();
	memcpy(m.rodata + 0x100, &d, 4);
	module_plan("f");
	CHECK(entry_only(leads_there ? REFUSED_EXIT_NO_ROOM : REFUSED_NONE));
}

/* Two bytes before it are enough where there is a hole. */
static void short_jump_before_exit_sled(void)
{
	module_begin();
	func("f", 0); put_entry_sled(); put_middle(); put_rel8(JNE, 65); put(ADD_RSP_40);
	put(POP_RBX, NOP); put_exit_sled(); func_end();
	put(NOP5, NOP5);
	func("g", m.at); put(RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
	CHECK(site_is(probe(), 0, TACTIC_SHORT, 65, 2, 0));
	CHECK(probe()->sites[0].leaves && records_exit(&m.probes[0].sites[0]));
	CHECK(probe()->sites[0].hole.pc == TEXT + 78);
}

/* Nothing but a breakpoint has room in one byte. */
static void trap_before_exit_sled(void)
{
	const struct plan_options o = { .traps = true };

	module_begin();
	func("f", 0); put_entry_sled(); put(NOP); put_exit_sled(); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_TOO_SHORT));
	module_plan_with(&o, "f", NULL, NULL);
	CHECK(entry_only(REFUSED_NONE) && probe()->nsites == 1);
	CHECK(site_is(probe(), 0, TACTIC_TRAP, 11, 1, 0));
	CHECK(probe()->sites[0].leaves && records_exit(&m.probes[0].sites[0]));
}

static void call_before_exit_sled(void)
{
	module_begin();
	func("f", 0); put_entry_sled(); put_call(0x100); put_exit_sled(); func_end();
	func("g", 0x100); put(RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 11, 5, 0));
}

static void sled_is_no_room(void)
{
	module_begin();
	func("g", 0); put(XOR_EAX, RET); func_end();
	func("h", 3); put(XOR_EAX); sled(1); put(RET); func_end();
	put(SLED_NOP10);
	func("i", 16); put(RET); func_end();
	module_plan("g");
	CHECK(refused(REFUSED_TOO_SHORT));
}

static void loop_behind_sled(void)
{
	module_begin();
	func("f", 0); put_entry_sled(); put_middle(); put_rel8(JNE, 11);
	put_body(); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE) && probe()->linked);
	CHECK(entry_site(probe())->pc == TEXT + 11);
}

/* The program's own tracing is not left out. */
static void loop_to_sled(void)
{
	module_begin();
	func("f", 0); put_entry_sled(); put_middle(); put_rel8(JNE, 0);
	put_body(); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_LOOP_ENTRY));
}

/* A map that is wrong: the sled is no sled. */
static void sled_in_the_middle(void)
{
	module_begin();
	func("f", 0); put(PUSH_RBX); sled(0); put(MOV_EAX_1); put_body(); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_TOO_SHORT));
}

int main(void)
{
	nops_behind_landing_pad();
	one_nop();
	listed_nops_are_no_target();
	nops_in_front();
	branch_between_nops();
	jump_to_behind_nops();
	fentry_call();
	other_call();
	mcount_behind_frame();
	mcount_out_of_the_way();
	sleds_stay();
	sleds_behind_landing_pad();
	jump_to_exit_sled();
	only_jumps_to_exit_sled();
	jump_to_nop_before_exit_sled(false);
	jump_to_nop_before_exit_sled(true);
	jump_to_nops_before_exit_sled();
	table_to_exit_sled(false);
	table_to_exit_sled(true);
	trap_before_exit_sled();
	short_jump_before_exit_sled();
	call_before_exit_sled();
	sled_is_no_room();
	loop_behind_sled();
	loop_to_sled();
	sled_in_the_middle();
	module_end();
	return failures != 0;
}

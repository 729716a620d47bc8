/* SPDX-License-Identifier: MIT */
/*
 * What of a jump can be kept of the bytes that stand there already?
 * One test per situation; each fails if the rule behind it is gone.
 */
#include "tests/patch/insns.h"

#include <errno.h>

static const struct plan_options puns = { .puns = true };

static void plan_puns(const char *f, const char *g)
{
	module_plan_with(&puns, f, g, NULL);
}

/* The i-th site of the probe is a pun of `len` bytes that are written. */
static bool pun_is(size_t i, size_t off, size_t window, size_t dead, size_t len)
{
	const struct site *s = &probe()->sites[i];

	return site_is(probe(), i, TACTIC_PUN, off, window, dead) && s->jump.len == len &&
		len + s->kept == 7u && s->jump.pc == s->pc && !s->hole.len;
}

/* Where the site can lead if all that it keeps stays as it is. */
static struct jump_set set_of(size_t i, size_t prefix)
{
	const struct placed_site *s = &m.probes[0].sites[i];
	uint16_t given = (uint16_t)(0xffffu << s->site.jump.len);
	struct jump_set set = { 0 };
	size_t left;

	CHECK(!plan_pun(m.arch, s, prefix, symbols_text(m.symbols, s->site.pc, &left), given,
			&set));
	return set;
}

/* Two functions of three bytes and what is behind them. */
static void begin_packed(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, RET); func_end();
	func("g", 3); put(XOR_EAX, RET); func_end();
	func("h", 6); put_middle(); put(RET); func_end();
}

static void too_short(void)
{
	begin_packed();
	plan_puns("f", NULL);
	CHECK(entry_only(REFUSED_NONE));
	CHECK(pun_is(0, 0, 3, 0, 3) && probe()->sites[0].nexits == 1);
	struct jump_set set = set_of(0, 0);

	CHECK(set.base == TEXT + 5 && set.mask == 0xffff0000 && set.value == 0xc0310000);
	set = set_of(0, 1);
	CHECK(set.base == TEXT + 6 && set.mask == 0xffffff00 && set.value == 0xc3c03100);
	set = set_of(0, 2);
	CHECK(set.base == TEXT + 7 && set.mask == 0xffffffff && set.value == 0x48c3c031);
}

static void not_unless_allowed(void)
{
	begin_packed();
	module_plan("f");
	CHECK(refused(REFUSED_TOO_SHORT));
}

/* Neither takes anything from the other: what is kept is not written. */
static void two_in_a_row(void)
{
	begin_packed();
	plan_puns("f", "g");
	CHECK(pun_is(0, 0, 3, 0, 3));
	CHECK(site_is(&m.plan->probes[1], 0, TACTIC_PUN, 3, 3, 0));
}

static void padding_is_written(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, RET); func_end();
	put(NOP);
	func("g", 4); put(XOR_EAX, RET); func_end();
	func("h", 7); put_middle(); put(RET); func_end();
	plan_puns("f", NULL);
	CHECK(pun_is(0, 0, 3, 1, 4));
}

/* A full jump, or a short one, is better. */
static void last_resort(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, RET); func_end();
	func("g", 3); put(XOR_EAX, RET); func_end();
	put(NOP5, NOP5);
	func("h", 16); put_middle(); put(RET); func_end();
	plan_puns("f", "g");
	CHECK(site_is(probe(), 0, TACTIC_SHORT, 0, 3, 0));
	CHECK(site_is(&m.plan->probes[1], 0, TACTIC_JUMP, 3, 3, 2));
}

static void pointer_inside(void)
{
	module_begin();
	m.exec = true;
	memcpy(m.rodata, &(uint64_t){ TEXT + 3 }, 8);
	func("f", 0); put(MOV_RDI_RAX, XOR_EAX); put_rel8(JNE, 3); put_middle();
	put(ADD_RSP_40, RET); func_end();
	plan_puns("f", NULL);
	CHECK(entry_only(REFUSED_NONE));
	CHECK(pun_is(1, 0, 3, 0, 3) && probe()->sites[1].entry);
}

static void exit_at_a_target(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_rel8(JE, 40); put_middle(); put(RET);
	func_end();
	func("g", 56); put_middle(); put(RET); func_end();
	m.text[40] = POP_RBX;	/* where the branch leads */
	m.text[41] = RET;
	m.text[42] = NOP;
	plan_puns("f", NULL);
	CHECK(entry_only(REFUSED_NONE));
}

static void exit_between(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_rel8(JE, 14); put_call(32); put(XOR_EAX);
	put(POP_RBX, RET); func_end();
	func("g", 16); put_middle(); put(RET); func_end();
	plan_puns("f", NULL);
	CHECK(entry_only(REFUSED_NONE));
	CHECK(pun_is(0, 14, 2, 0, 2) && probe()->sites[0].nexits == 1);
	CHECK(!probe()->sites[0].entry);
}

/* What is written ends with the page; the rest of the instruction stays. */
static void page_crossing(void)
{
	module_begin();
	func("f", 4094); put(MOV_EAX_1); put_middle(); put(ADD_RSP_40, RET); func_end();
	plan_puns("f", NULL);
	CHECK(entry_only(REFUSED_NONE));
	CHECK(pun_is(1, 4094, 5, 0, 2));
	CHECK(set_of(1, 0).value == 0 && set_of(1, 0).mask == 0xffffff00);
}

/* The bytes of g lead f's jump more than 900 MiB down, with any prefix. */
static void plan_fixed(const char *g)
{
	struct plan_options fixed = puns;

	fixed.space = (struct range){ 1 << 16, 1ull << 47 };
	module_begin();
	func("f", 0); put(XOR_EAX, RET); func_end();
	func("g", 3); put(XOR_EAX, 0x89, 0xc0, RET); func_end();
	func("h", 16); put_middle(); put(RET); func_end();
	module_plan_with(&fixed, "f", g, NULL);
}

static void nothing_below_zero(void)
{
	plan_fixed(NULL);
	CHECK(refused(REFUSED_TOO_SHORT));
}

/* If g is to be probed, f's highest byte is one of g's jump: it may be any. */
static void neighbours_bytes_are_free(void)
{
	plan_fixed("g");
	CHECK(pun_is(0, 0, 3, 0, 3));
	CHECK(site_is(&m.plan->probes[1], 0, TACTIC_JUMP, 3, 5, 0));
}

/* And so it is if that one is a pun itself, which is not known yet as f is planned in the order
 * of the addresses. */
static void neighbours_pun_is_known(void)
{
	struct plan_options fixed = puns;

	fixed.space = (struct range){ 1 << 16, 1ull << 47 };
	module_begin();
	func("f", 0); put(NOP, RET); func_end();
	func("g", 2); put(0x89, 0xc0, NOP, RET); func_end();
	func("h", 6); put(0x89, 0xc0); put_middle(); put(RET); func_end();
	module_plan_with(&fixed, "f", "g", "h");
	CHECK(pun_is(0, 0, 2, 0, 2));
}

/* The program itself rewrites a sled, and would lead the jump elsewhere. */
static void sled_is_not_kept(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, RET); func_end();
	func("g", 3); sled(0); put_rel8(JMP8, 14); put_n(NOP, 9); put_middle();
	put(RET); func_end();
	plan_puns("f", NULL);
	CHECK(refused(REFUSED_TOO_SHORT));
}

static void text_ends(void)
{
	module_begin();
	func("f", 0); put_middle(); put(RET); func_end();
	func("g", m.at); put(XOR_EAX, RET); func_end();
	plan_puns("g", NULL);
	CHECK(refused(REFUSED_TOO_SHORT));
}

/* An indirect jump whose targets are not known. */
static void put_unsure(void)
{
	put(NOTRACK_JMP_RAX, MOV_EAX_1, RET); func_end();
	func("g", m.at); put_middle(); put(RET); func_end();
}

static void unsure_keeps_all_but_the_first(void)
{
	module_begin();
	func("f", 0); func_cfa(8); put(PUSH_RBX, MOV_RDI_RAX, XOR_EAX); put_unsure();
	plan_puns("f", NULL);
	CHECK(entry_only(REFUSED_JUMP_TABLE));
	CHECK(pun_is(0, 0, 1, 0, 1));
}

static void unsure_has_no_second_instruction(void)
{
	module_begin();
	func("f", 0); func_cfa(8); put(PUSH_RBX, MOV_RDI_RAX, XOR_EAX); put_unsure();
	module_plan("f");
	CHECK(refused(REFUSED_JUMP_TABLE));
}

static void unsure_with_a_long_first(void)
{
	module_begin();
	func("f", 0); func_cfa(8); put(MOV_EAX_1, MOV_RDI_RAX); put_unsure();
	plan_puns("f", NULL);
	CHECK(entry_only(REFUSED_JUMP_TABLE));
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 0, 5, 0));
}

static void unsure_with_a_hole(void)
{
	module_begin();
	func("f", 0); func_cfa(8); put(MOV_RDI_RAX, XOR_EAX);
	put(NOTRACK_JMP_RAX, MOV_EAX_1, RET); func_end();
	put(NOP5);
	func("g", m.at); put_middle(); put(RET); func_end();
	plan_puns("f", NULL);
	CHECK(entry_only(REFUSED_JUMP_TABLE));
	CHECK(site_is(probe(), 0, TACTIC_SHORT, 0, 3, 0));
}

/* A tail call by a word, and something inside is led to: it is known what. */
static void word_leads_to_what_is_named(void)
{
	module_begin();
	m.exec = true;
	memcpy(m.rodata + 1, &(uint32_t){ TEXT + 7 }, 4);
	func("f", 0); func_cfa(8); put(XOR_EAX, MOV_RDI_RAX, JMP_RAX, MOV_EAX_1, RET); func_end();
	func("g", m.at); put_middle(); put(RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_JUMP_TABLE));
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 0, 5, 0));
}

static const struct routines routines = {
	.entry = TEXT + 0x80000, .exit = TEXT + 0x80040, .mark = TEXT + 0x80080,
};

/* Placed, it is the bytes that are kept which are in the jump. */
static void placed(void)
{
	begin_packed();
	plan_puns("f", NULL);
	struct placed_site *s = &m.probes[0].sites[0];
	raddr_t pc = s->site.pc;
	uint8_t code[256], out[ARCH_JUMP_MAX];
	int err;

	s->stub = TEXT + 0x90000;
	s->island = TEXT + 5 - 0x3fcf0000 + 0x1234;
	s->site.kept = 2;
	CHECK(!plan_place(m.arch, &m.probes[0], s, m.text, &routines, code, 256));
	CHECK(!memcmp(s->new_jump, (uint8_t[]){ 0xe9, 0x34, 0x12, 0x31, 0xc0 }, 5));
	CHECK(!memcmp(s->site.jump.old, m.text, 3));
	s->prefix = 1;
	s->site.kept = 3;
	s->island = TEXT + 6 + (int64_t)(int32_t)0xc3c03177;
	CHECK(!plan_patches(m.arch, s));
	CHECK(!memcmp(s->new_jump, (uint8_t[]){ 0x48, 0xe9, 0x77, 0x31, 0xc0, 0xc3 }, 6));
	CHECK(plan_island(m.arch, s, out) == 5 && out[0] == 0xe9);
	/* Inside of what is displaced a PC has to move, behind it not. */
	CHECK(plan_forward(s, pc + 2, &err) == s->stub + s->stub_off[1] && !err);
	CHECK(!plan_forward(s, pc + 1, &err) && err == -EILSEQ);
	CHECK(!plan_forward(s, pc + 3, &err) && !err);
	CHECK(!plan_forward(s, pc, &err) && !err);
}

/* An entry of five bytes, and an exit of two. */
static struct placed_probe *plan_two_sites(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_rel8(JE, 14); put_call(32); put(XOR_EAX);
	put(POP_RBX, RET); func_end();
	func("g", 16); put_middle(); put(RET); func_end();
	plan_puns("f", NULL);
	CHECK(probe()->nsites == 2 && !probe()->sites[0].entry && probe()->sites[1].entry);
	return &m.probes[0];
}

static void exits_are_given_up(void)
{
	struct placed_probe *p = plan_two_sites();
	uint8_t code[256];

	p->sites[1].stub = TEXT;
	p->sites[1].site.leaves = true;
	p->sites[1].site.exits = 1;
	plan_give_up(p, &p->sites[0]);
	CHECK(p->nsites == 1 && p->sites[0].site.entry && !p->sites[0].site.nexits);
	CHECK(!p->refusal && p->entry_only == REFUSED_EXIT_NO_ROOM && !p->sites[0].stub);
	p->sites[0].stub = TEXT + 0x90000;
	CHECK(!plan_place(m.arch, p, &p->sites[0], m.text, &routines, code, 256));
	CHECK(p->sites[0].stub_size == 33 + 5 + 5);	/* one recording call */
	/* The plan is what it was. */
	CHECK(entry_only(REFUSED_NONE) && probe()->nsites == 2 && probe()->sites[1].entry);
}

static void entry_is_given_up(void)
{
	struct placed_probe *p = plan_two_sites();

	plan_give_up(p, &p->sites[1]);
	CHECK(p->refusal == REFUSED_OUT_OF_REACH);
}

/* An exit's site may hold a jump into the entry's window. */
static void linked_is_given_up_whole(void)
{
	struct placed_probe *p = plan_two_sites();
	struct probe linked = *p->planned;

	linked.linked = true;
	p->planned = &linked;
	plan_give_up(p, &p->sites[0]);
	CHECK(p->refusal == REFUSED_OUT_OF_REACH);
}

int main(void)
{
	too_short();
	not_unless_allowed();
	two_in_a_row();
	padding_is_written();
	last_resort();
	pointer_inside();
	exit_at_a_target();
	exit_between();
	page_crossing();
	nothing_below_zero();
	neighbours_bytes_are_free();
	neighbours_pun_is_known();
	sled_is_not_kept();
	text_ends();
	unsure_keeps_all_but_the_first();
	unsure_has_no_second_instruction();
	unsure_with_a_long_first();
	unsure_with_a_hole();
	word_leads_to_what_is_named();
	placed();
	exits_are_given_up();
	entry_is_given_up();
	linked_is_given_up_whole();
	module_end();
	return failures != 0;
}

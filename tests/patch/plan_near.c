/* SPDX-License-Identifier: MIT */
/*
 * Is all found that matters to one function, however far away it stands?
 * One test per rule; each fails if that is gone.
 */
#include "tests/patch/insns.h"

enum { FAR = 0x1000, FARTHER = 0x2000 };

/* The selected one, and far away an instruction that `put_it` makes. */
static void begin(void (*put_it)(void))
{
	module_begin();
	func("f", 0); put(PUSH_RBX); put_middle(); put(POP_RBX, RET); func_end();
	func("g", FAR); put_middle(); put_it(); put(RET); func_end();
	func("h", FARTHER); put(RET); func_end();
}

static void put_nothing(void) { }
static void put_far_jmp(void) { put_jmp(1); }
static void put_far_je(void) { put_je(4); }
static void put_far_call(void) { put_call(1); }
static void put_to_start(void) { put_call(0); put_jmp(0); }
static void put_far_lea(void) { put(0x48, 0x8d, 0x15); put_rel32(4); }

/* cmpb $0, f+1(%rip): the distance is not what comes last. */
static void put_far_cmp(void)
{
	put(0x80, 0x3d);
	put_rel32(0);
	put(0);
}

static void far_instructions(void)
{
	static void (*const lead[])(void) = {
		put_far_jmp, put_far_je, put_far_call, put_far_lea, put_far_cmp };
	static void (*const harmless[])(void) = { put_nothing, put_to_start };

	for (size_t i = 0; i < ARRAY_SIZE(lead); i++) {
		begin(lead[i]);
		module_plan("f");
		CHECK(refused(REFUSED_BRANCH_INSIDE));
	}
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++) {
		begin(harmless[i]);
		module_plan("f");
		CHECK(entry_only(REFUSED_NONE));
	}
}

/* To another instruction of its window another module leads, or to where it begins. */
static void from_other_modules(void)
{
	const raddr_t to[] = { TEXT + 1, TEXT, TEXT + TEXT_CAP, 0 };

	for (size_t i = 0; i < ARRAY_SIZE(to); i++) {
		begin(put_nothing);
		module_plan_with(&(struct plan_options){ .arrivals = &to[i], .narrivals = 1 },
				 "f", NULL, NULL);
		if (!i)
			CHECK(refused(REFUSED_BRANCH_INSIDE));
		else
			CHECK(entry_only(REFUSED_NONE));
	}
}

/* More than a page behind the last function before it. */
static void code_of_nobody(void)
{
	begin(put_nothing);
	m.at = FARTHER + 0x1801;
	put_far_jmp();
	func("i", m.at + 15); put(RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
}

/* What is read begins somewhere, and that may be inside of an instruction whose last
 * bytes begin others, up to one that holds the jump: all are mov $..., %rax. */
static void inside_an_instruction(void)
{
	for (size_t at = FARTHER + 0x1000; at < FARTHER + 0x1040; at++) {
		begin(put_nothing);
		m.at = FARTHER + 0xe00;
		put_n(NOP, at - m.at);
		for (int i = 0; i < 4; i++)
			put(0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0x48, 0xb8);
		put_far_jmp();
		func("i", at + 0x80); put(RET); func_end();
		module_plan("f");
		CHECK(refused(REFUSED_BRANCH_INSIDE));
	}
}

/* Padding that begins far from where a hole is wanted, behind `je` or not. */
static void plan_padding(bool lands, size_t at)
{
	module_begin();
	func("e", 0); put(TEST_EDI);
	if (lands)
		put_je(0x10);
	put(RET); func_end();
	put_n(NOP, at - m.at);
	func("f", at); put(XOR_EAX, RET); func_end();
	func("g", at + 3); put(XOR_EAX, RET); func_end();
	module_plan("f");
}

static void long_padding(void)
{
	plan_padding(false, 0x300);
	CHECK(site_is(probe(), 0, TACTIC_SHORT, 0x300, 3, 0));
	plan_padding(true, 0x300);
	CHECK(refused(REFUSED_TOO_SHORT));
	plan_padding(false, 0x1100);
	CHECK(refused(REFUSED_TOO_SHORT));
}

/* Of a program whose functions are not aligned, only its unwind entry tells of a piece, and
 * what leads there whether it is one. */
static void far_piece(bool is_called)
{
	module_begin();
	func("f", 1); func_cfa(8); put_middle(); put_je(FAR + 5); put_middle(); put(RET);
	func_end();
	func("", FAR + 5); m.syms[m.nfuncs - 1].st_info = 0; func_cfa(8);
	put_middle(); put(TEST_EDI); put_je(55); put(XOR_EAX, RET); func_end();
	func("g", FARTHER + 3); func_cfa(8); put_middle();
	if (is_called)
		put_call(FAR + 5);
	put(RET); func_end();
	module_plan("f");
}

/* It is one, because it leads back into what is far from both. */
static void piece_of_another(void)
{
	module_begin();
	func("f", 1); func_cfa(8); put_middle(); put_jmp(FAR + 5); func_end();
	func("", FAR + 5); m.syms[m.nfuncs - 1].st_info = 0; func_cfa(8);
	put_middle(); put_jmp(FARTHER + 6); func_end();
	func("g", FARTHER + 3); func_cfa(8); put_middle(); put(RET); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_SHARED_BODY));
}

/* Where functions are aligned, two jump to what is packed as pieces are: only a call of
 * it tells that it is none, but an unlikely function. */
static void packed(bool is_called)
{
	module_begin();
	func("f", 0); func_cfa(8); put_middle(); put_jmp(FAR + 5); func_end();
	func("", FAR + 5); m.syms[m.nfuncs - 1].st_info = 0; func_cfa(8);
	put_middle(); put(RET); func_end();
	func("g", FARTHER); func_cfa(8); put_middle(); put_jmp(FAR + 5); func_end();
	func("h", FARTHER + 0x100); func_cfa(8); put_middle();
	if (is_called)
		put_call(FAR + 5);
	put(RET); func_end();
	module_plan("f");
}

static void pieces(void)
{
	packed(false);
	CHECK(entry_only(REFUSED_SHARED_BODY));
	packed(true);
	CHECK(entry_only(REFUSED_NONE) && probe()->nexits == 1);
	piece_of_another();
	far_piece(false);
	CHECK(entry_only(REFUSED_NONE) && probe()->nexits == 2);
	far_piece(true);
	CHECK(entry_only(REFUSED_SHARED_BODY));
}

int main(void)
{
	far_instructions();
	from_other_modules();
	code_of_nobody();
	inside_an_instruction();
	long_padding();
	pieces();
	module_end();
	return failures != 0;
}

/* SPDX-License-Identifier: MIT */
/* Where do the jumps of an arm64 function stand? Each takes one instruction, so
 * little can be in the way. */
#include "tests/patch/module.h"
#include "tests/patch/rules.h"

#define BTI_C 0xd503245fu
#define STP_FRAME 0xa9bf7bfdu		/* stp x29, x30, [sp, #-16]! */
#define LDP_FRAME 0xa8c17bfdu		/* ldp x29, x30, [sp], #16 */
#define MOV_X0_X1 0xaa0103e0u
#define RET 0xd65f03c0u
#define BR_X16 0xd61f0200u
#define SVC 0xd4000001u

static void put_word(uint32_t w)
{
	put((uint8_t)w, (uint8_t)(w >> 8), (uint8_t)(w >> 16), (uint8_t)(w >> 24));
}

/* b, bl, b.eq to an offset of the text */
static void put_branch(uint32_t op, size_t dest)
{
	uint32_t words = (uint32_t)((dest - m.at) / 4);

	put_word(op == 0x54000000 ? op | (words & 0x7ffff) << 5 : op | (words & 0x3ffffff));
}

static void begin(void)
{
	module_begin();
	m.arch = &arch_arm64;
	func("f", 0);
}

static void one_word_is_enough(void)
{
	begin();
	put_word(STP_FRAME); put_word(MOV_X0_X1); put_word(LDP_FRAME); put_word(RET);
	func_end();
	module_plan("f");
	CHECK(!probe()->refusal && !probe()->entry_only);
	CHECK(probe()->nexits == 1);
	CHECK(probe()->sites[probe()->nsites - 1].pc == TEXT);
}

static void stands_behind_landing_pad(void)
{
	begin();
	put_word(BTI_C); put_word(STP_FRAME);
	for (int i = 0; i < 8; i++)
		put_word(MOV_X0_X1);
	put_word(LDP_FRAME); put_word(RET); func_end();
	module_plan("f");
	CHECK(!probe()->refusal && !probe()->entry_only);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 44, 4, 0));
	CHECK(site_is(probe(), 1, TACTIC_JUMP, 4, 4, 0));
	CHECK(rules_broken(m.plan) == 0);
}

static void loop_to_behind_landing_pad(void)
{
	begin();
	put_word(BTI_C); put_word(MOV_X0_X1); put_word(MOV_X0_X1);
	put_branch(0x54000000, 4); put_word(RET); func_end();
	module_plan("f");
	CHECK(!probe()->refusal && !probe()->entry_only && probe()->linked);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 4, 16, 0));
	CHECK(rules_broken(m.plan) == 0);
}

static void loop_behind_entry(void)
{
	begin();
	put_word(BTI_C); put_word(MOV_X0_X1); put_word(MOV_X0_X1);
	put_branch(0x54000000, 8); put_word(RET); func_end();
	module_plan("f");
	CHECK(!probe()->refusal && !probe()->entry_only);
	CHECK(site_is(probe(), 1, TACTIC_JUMP, 4, 4, 0));
}

static void tail_jump(void)
{
	begin();
	put_word(MOV_X0_X1);
	for (int i = 0; i < 8; i++)
		put_word(MOV_X0_X1);
	put_branch(0x14000000, 0x80); func_end();
	func("g", 0x80); put_word(RET); func_end();
	module_plan("f");
	CHECK(!probe()->refusal && !probe()->entry_only);
	CHECK(site_is(probe(), 0, TACTIC_JUMP, 36, 4, 0));
	CHECK(rules_broken(m.plan) == 0);
}

/* By what was given; and to what the code names: another function, or a place of this one. */
static void jumps_by_register(void)
{
	static const uint32_t adr_x16[] = { 0x10000010 | 0x78 / 4 << 5, 0x10000010 | 8 / 4 << 5 };

	begin();
	put_word(BTI_C); put_word(0xaa0003f0); put_word(MOV_X0_X1); put_word(BR_X16); func_end();
	module_plan("f");
	CHECK(!probe()->refusal && !probe()->entry_only && probe()->nexits == 1);
	for (int i = 0; i < 2; i++) {
		begin();
		put_word(BTI_C); put_word(MOV_X0_X1); put_word(adr_x16[i]); put_word(BR_X16);
		put_word(RET); func_end();
		func("g", 0x80); put_word(RET); func_end();
		module_plan("f");
		CHECK(!probe()->refusal && !probe()->entry_only);
		CHECK(probe()->nexits == 1);
	}
}

static void supervisor_call_at_entry(void)
{
	begin();
	put_word(SVC); put_word(RET); func_end();
	module_plan("f");
	CHECK(probe()->refusal == REFUSED_SYSCALL_INSIDE);
}

/* ldr x0, 1f; ret; 1: what looks like another ret */
static void constant_among_code(void)
{
	begin();
	put_word(STP_FRAME); put_word(0x58000060); put_word(LDP_FRAME); put_word(RET);
	put_word(RET); put_word(0x14000000); func_end();
	module_plan("f");
	CHECK(!probe()->refusal && !probe()->entry_only);
	CHECK(probe()->nexits == 1);
}

/* Behind the code, loaded otherwise by now, is what no decoder knows. */
static void constant_left_over(void)
{
	begin();
	put_word(STP_FRAME); put_word(MOV_X0_X1); put_word(LDP_FRAME); put_word(RET);
	put_word(0x00210c00); func_end();
	module_plan("f");
	CHECK(!probe()->refusal && !probe()->entry_only);
	CHECK(probe()->nexits == 1);
}

int main(void)
{
	one_word_is_enough();
	stands_behind_landing_pad();
	loop_to_behind_landing_pad();
	loop_behind_entry();
	tail_jump();
	jumps_by_register();
	supervisor_call_at_entry();
	constant_among_code();
	constant_left_over();
	module_end();
	return failures != 0;
}

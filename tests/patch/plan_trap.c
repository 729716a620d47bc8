/* SPDX-License-Identifier: MIT */
/*
 * Where does a breakpoint stand, if it is asked for and nothing else has room?
 * One test per situation; each fails if the rule behind it is gone.
 */
#include "tests/patch/insns.h"
#include "tests/patch/rules.h"

static const struct plan_options traps = { .puns = true, .traps = true };

static void plan_traps(const char *f)
{
	module_plan_with(&traps, f, NULL, NULL);
}

/* The i-th site of the probe is a breakpoint over the instruction at `off`. */
static bool trap_is(size_t i, size_t off, size_t window)
{
	const struct site *s = &probe()->sites[i];

	return site_is(probe(), i, TACTIC_TRAP, off, window, 0) && s->jump.len == 1 &&
		s->jump.pc == s->pc && !s->hole.len && !s->kept && s->ninsns == 1;
}

static bool sound(void)
{
	return rules_broken(m.plan) == 0;
}

/* It is not known where it jumps, and no pun stands on what follows: it would lead
 * below zero. */
static void begin_unsure(void)
{
	module_begin();
	func("f", 0); func_cfa(48); put(PUSH_RBX, TEST_EDI, 0x3c, 0x80);
	put_n(NOP, 2); put_middle(); put(JMP_RAX); func_end();
}

static void plan_unsure(bool with_traps)
{
	const struct plan_options o = {
		.puns = true, .traps = with_traps, .space = { 1 << 16, 1ull << 47 },
	};

	begin_unsure();
	module_plan_with(&o, "f", NULL, NULL);
}

static void not_unless_asked(void)
{
	plan_unsure(false);
	CHECK(refused(REFUSED_JUMP_TABLE));
}

static void one_instruction(void)
{
	plan_unsure(true);
	CHECK(entry_only(REFUSED_JUMP_TABLE));
	CHECK(trap_is(0, 0, 1) && sound());
}

/* A full jump, a short one or a pun is better. */
static void last_resort(void)
{
	module_begin();
	func("f", 0); put_middle(); put(XOR_EAX, RET); func_end();
	plan_traps("f");
	CHECK(entry_only(REFUSED_NONE));
	for (size_t i = 0; i < probe()->nsites; i++)
		CHECK(probe()->sites[i].tactic != TACTIC_TRAP);
	CHECK(sound());
}

/* Data that was taken for code jumps into the middle of each instruction. */
static void begin_landed(void)
{
	module_begin();
	func("f", 0); put_middle(); put(ADD_RSP_40); put_jmp(0x200); func_end();
	m.text[2] = 0xe0;		/* mov %rsp, %rax: is not passed */
	m.text[50] = 0xc0;		/* add $40, %rax: it leaves with no frame up */
	put_rel8(JE, 1); put_rel8(JE, 49); put_rel8(JE, 54);
	func("g", 0x200); put(RET); func_end();
}

static void landed_inside(void)
{
	begin_landed();
	module_plan("f");
	CHECK(refused(REFUSED_BRANCH_INSIDE));
	module_plan_with(&(struct plan_options){ .traps = true }, "f", NULL, NULL);
	CHECK(entry_only(REFUSED_NONE));
	CHECK(trap_is(0, 52, 5) && trap_is(1, 0, 3) && sound());
	/* A pun keeps what they find there. */
	module_plan_with(&(struct plan_options){ .puns = true }, "f", NULL, NULL);
	CHECK(entry_only(REFUSED_NONE));
	for (size_t i = 0; i < probe()->nsites; i++)
		CHECK(probe()->sites[i].tactic == TACTIC_PUN &&
		      probe()->sites[i].jump.len < probe()->sites[i].window);
}

/* Each instruction has one jump: that of a place, or of the function's exit. */
static void landed_inside_twice(void)
{
	const raddr_t places[2] = { 0, TEXT + 52 };

	for (int traps_too = 0; traps_too < 2; traps_too++) {
		const struct plan_options o = {
			.puns = !traps_too, .traps = traps_too, .places = places,
		};
		size_t there = 0;

		begin_landed();
		module_plan_with(&o, "f", "f", NULL);
		for (size_t i = 0; i < m.plan->nprobes; i++) {
			const struct probe *p = &m.plan->probes[i];

			for (size_t k = 0; k < p->nsites && !p->refusal; k++)
				there += p->sites[k].jump.pc == TEXT + 52;
		}
		CHECK_EQ(there, 1);
	}
}

/* What was to be a pun, and has no place. */
static void pun_without_a_place(void)
{
	module_begin();
	func("f", 0); put(XOR_EAX, RET); func_end();
	func("g", 3); put(XOR_EAX, RET); func_end();
	func("h", 6); put_middle(); put(RET); func_end();
	plan_traps("f");
	CHECK(probe()->sites[0].tactic == TACTIC_PUN);
	struct placed_probe *p = &m.probes[0];
	const struct site *s = &p->sites[0].site;

	plan_give_up(p, &p->sites[0]);
	CHECK(!p->refusal && !p->entry_only && s->tactic == TACTIC_TRAP && s->jump.len == 1);
	CHECK(s->pc == TEXT && s->window == 3 && !s->dead && s->nexits == 1);
	/* It has one now, whatever else is given up. */
	plan_give_up(p, &p->sites[0]);
	CHECK(!p->refusal && !p->entry_only && sound());
}

/* Only a whole instruction is moved, and none that must stay. */
static void not_over_everything(void)
{
	module_begin();
	func("f", 0); put(SYSCALL, RET); func_end();
	func("g", 3); put(XOR_EAX, RET); func_end();
	plan_traps("f");
	CHECK(refused(REFUSED_SYSCALL_INSIDE));
}

/* Only the first byte changes. */
static void bytes(void)
{
	const struct routines to = { .entry = TEXT + 0x80000, .exit = TEXT + 0x80100,
				     .mark = TEXT + 0x80200 };
	uint8_t code[256];

	plan_unsure(true);
	struct placed_probe *p = &m.probes[0];

	p->sites[0].stub = TEXT + 0x90000;
	CHECK(!plan_place(m.arch, p, &p->sites[0], m.text, &to, code, sizeof(code)));
	CHECK(p->sites[0].new_jump[0] == INT3 && probe()->sites[0].jump.old[0] == PUSH_RBX);
}

int main(void)
{
	not_unless_asked();
	one_instruction();
	last_resort();
	landed_inside();
	landed_inside_twice();
	pun_without_a_place();
	not_over_everything();
	bytes();
	module_end();
	return failures != 0;
}

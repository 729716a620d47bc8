/* SPDX-License-Identifier: MIT */
/* Where may the jump of a place within a function stand, and is all that comes there marked? One
 * test per situation; each fails if the rule behind it is gone. */
#include "tests/patch/insns.h"

enum { MARK = TEXT + 0x80200 };

/* Of f, which is there, the place at `off` alone. */
static void plan_place_at(size_t off)
{
	const raddr_t places[3] = { TEXT + off };
	const struct plan_options o = { .places = places, .hosts = true };

	module_plan_with(&o, "f", NULL, NULL);
}

static bool is_marked(size_t off, size_t window, size_t check)
{
	const struct site *s = probe()->refusal ? NULL : entry_site(probe());

	if (s && s->entry && s->place && s->pc == TEXT + off && s->window == window &&
	    s->check == check && entry_only(REFUSED_PLACE) && !s->exits)
		return true;
	fprintf(stderr, "refusal %s, site at %#zx, window %u, check %u\n",
		refusal_word(probe()->refusal), s ? (size_t)(s->pc - TEXT) : 0, s ? s->window : 0,
		s ? s->check : 0);
	return false;
}

static uint8_t code[256];

static struct placed_site *place_stub(void)
{
	const struct routines to = { .entry = TEXT + 0x80000, .exit = TEXT + 0x80100,
				     .mark = MARK };
	struct placed_site *s = placed_entry();

	m.probes[0].id = 5;
	s->stub = TEXT + 0x90000;
	CHECK(!plan_place(m.arch, &m.probes[0], s, m.text + (s->site.pc - TEXT), &to, code,
			  sizeof(code)));
	return s;
}

/* At its first instruction, and with what is below the stack pointer left alone. */
static void begins(void)
{
	static const uint8_t lower[] = { 0x48, 0x8d, 0x64, 0x24, 0x80 };
	static const uint8_t raise[] = { 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0 };

	module_begin();
	func("f", 0); put_middle(); put(RET); func_end();
	plan_place_at(9);
	CHECK(is_marked(9, 6, 0));
	struct placed_site *s = place_stub();

	CHECK(memcmp(code, lower, sizeof(lower)) == 0);
	CHECK(memcmp(code + sizeof(lower) + 33, raise, sizeof(raise)) == 0);
	CHECK(memcmp(code + sizeof(lower) + 33 + sizeof(raise), m.text + 9, 6) == 0);
	CHECK_EQ(s->stub_off[0], 0);
	/* The function's start is a place, too. */
	plan_place_at(0);
	CHECK(is_marked(0, 6, 0));
}

/* A function that is probed besides has its own sites. */
static void beside(void)
{
	const raddr_t places[3] = { 0, TEXT + 12, TEXT + 3 };
	const struct plan_options o = { .places = places };

	module_begin();
	func("f", 0); put_middle(); put(RET); func_end();
	module_plan_with(&o, "f", "f", "f");
	CHECK(!m.plan->probes[0].refusal && m.plan->probes[0].nexits == 1 &&
	      !entry_site(&m.plan->probes[0])->place);
	CHECK(!m.plan->probes[1].refusal && entry_site(&m.plan->probes[1])->place);
	CHECK(m.plan->probes[2].refusal == REFUSED_TOO_SHORT);
}

/* Where a jump leads right behind the place, the window ends with it. */
static void goes_back(void)
{
	module_begin();
	func("f", 0); put_middle(); put(NOP); put_middle(); put_rel8(JNE, 49); put(RET); func_end();
	plan_place_at(48);
	CHECK(is_marked(42, 7, 6));
	struct placed_site *s = place_stub();

	CHECK_EQ(s->stub_off[2], 6);
	CHECK(code[6] == 0x48 && code[7] == 0x8d);
}

/* What jumps to a place in the middle of its window is led to where it is marked. */
static void jumps_arrive(void)
{
	module_begin();
	func("f", 0); put(TEST_EDI); put_rel8(JNE, 56); put_middle(); put(NOP, NOP, NOP, RET);
	put_middle(); put_rel8(JMP8, 53); func_end();
	plan_place_at(53);
	MUST(!probe()->refusal && probe()->nsites == 2);
	const struct site *s = entry_site(probe());

	CHECK(s->place && s->level == 1 && s->pc + s->check == TEXT + 53 && s->check);
	struct placed_site *placed = place_stub();
	size_t i = 0;

	while (s->insns[i] != s->check)
		i++;
	CHECK(code[placed->stub_off[i]] == 0x48 && code[placed->stub_off[i] + 1] == 0x8d);
	/* And its copy goes there. */
	struct placed_site *jump = &m.probes[0].sites[0];
	const struct routines to = { .mark = MARK };

	jump->stub = TEXT + 0x90200;
	CHECK(!plan_place(m.arch, &m.probes[0], jump, m.text + (jump->site.pc - TEXT), &to, code,
			  sizeof(code)));
	int32_t rel;

	memcpy(&rel, code + jump->stub_size - 4, sizeof(rel));
	CHECK_EQ(jump->stub + jump->stub_size + (raddr_t)(int64_t)rel,
		 placed->stub + placed->stub_off[i]);
}

/* A loop to the function's start is none to the place, and one to the place comes there. */
static void loops(void)
{
	module_begin();
	func("f", 0); put_middle(); put_rel8(JNE, 0); put_middle(); put_rel8(JNE, 53); put(RET);
	func_end();
	plan_place_at(12);
	CHECK(is_marked(12, 6, 0));
	plan_place_at(53);
	CHECK(is_marked(53, 6, 0));
	plan_place_at(0);
	CHECK(is_marked(0, 6, 0));
}

/* A call may be the last instruction of its window: it comes back behind that. */
static void calls(void)
{
	module_begin();
	func("f", 0); put_middle(); put_call(0x200); put_middle(); put(RET); func_end();
	func("g", 0x200); put_middle(); put(RET); func_end();
	plan_place_at(48);
	CHECK(is_marked(48, 5, 0));
	plan_place_at(45);
	CHECK(is_marked(45, 8, 0));
	plan_place_at(53);
	CHECK(is_marked(53, 6, 0));
}

static void no_instruction(void)
{
	module_begin();
	func("f", 0); put_middle(); put(RET); put(MOV_EAX_1); put(RET); func_end();
	plan_place_at(10);
	CHECK(refused(REFUSED_NO_INSTRUCTION));
	/* What nothing leads to may be data. */
	plan_place_at(49);
	CHECK(refused(REFUSED_NO_INSTRUCTION));
	plan_place_at(0x300);
	CHECK(refused(REFUSED_NO_INSTRUCTION));
	plan_place_at(48);
	CHECK(is_marked(42, 7, 6));
}

static void unmovable(void)
{
	module_begin();
	func("f", 0); put_middle(); put(SYSCALL); put_middle(); put(RET); func_end();
	plan_place_at(48);
	CHECK(refused(REFUSED_SYSCALL_INSIDE));
	plan_place_at(50);
	CHECK(is_marked(50, 6, 0));
}

/* There is no room in the middle of a function of Go's. */
static void of_go(void)
{
	module_begin();
	m.go = true;
	func("f", 0); put_middle(); put(RET); func_end();
	plan_place_at(12);
	CHECK(refused(REFUSED_LITTLE_STACK));
}

int main(void)
{
	begins();
	beside();
	goes_back();
	jumps_arrive();
	loops();
	calls();
	no_instruction();
	unmovable();
	of_go();
	module_end();
	return failures != 0;
}

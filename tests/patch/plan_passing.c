/* SPDX-License-Identifier: MIT */
/*
 * Which instructions may come before the place where an entry is recorded? One test
 * per situation; each fails if the rule behind it is gone. Go's are in plan_go.c.
 */
#include "tests/patch/insns.h"

#define LOAD 0x48, 0x8b, 0x07		/* mov (%rdi), %rax */
#define PUSH_MEMORY 0xff, 0x37		/* push (%rdi) */
#define SUB_RSP(n) 0x48, 0x83, 0xec, n
#define JMP_MEMORY 0xff, 0x60, 0x08	/* jmp *8(%rax) */

enum { FPE = 8, SEGV = 11 };

/* A function that begins so, where a fault is handled; it may be a short one. */
static void plan_beginning(const uint8_t *bytes, size_t n, int caught)
{
	const struct plan_options o = { .caught = 1ull << (caught - 1) };

	module_begin();
	func("f", 0); put_bytes(bytes, n); put_middle(); put(ADD_RSP_40, RET); func_end();
	module_plan_with(&o, "f", NULL, NULL);
}

#define PLAN_BEGINNING(caught, ...) \
	plan_beginning((const uint8_t[]){ __VA_ARGS__ }, \
		       sizeof((const uint8_t[]){ __VA_ARGS__ }), caught)

static bool is_entered_at(size_t off)
{
	return !probe()->refusal && entry_site(probe())->entry &&
		entry_site(probe())->pc == TEXT + off;
}

/* A handler of a fault finds it where it was. What is not handled is displaced. */
static void may_fault(void)
{
	PLAN_BEGINNING(SEGV, LOAD);
	CHECK(is_entered_at(3) && entry_only(REFUSED_NONE));
	CHECK(entry_site(probe())->tactic == TACTIC_JUMP);
	PLAN_BEGINNING(SEGV, XOR_EAX, LOAD, LOAD);
	CHECK(is_entered_at(8));
	PLAN_BEGINNING(FPE, LOAD);
	CHECK(is_entered_at(0));
	PLAN_BEGINNING(SEGV, ADD_RSP_40, NOP, LOAD);
	CHECK(is_entered_at(0));
	/* What a compiler leaves for tracers comes first. */
	PLAN_BEGINNING(SEGV, LOAD, NOP5);
	CHECK(is_entered_at(3) && entry_site(probe())->tactic == TACTIC_JUMP);
	/* No place at all is behind the last one. */
	module_begin();
	func("f", 0); put(LOAD, JMP_MEMORY); func_end();
	put_n(INT3, 10);
	module_plan_with(&(struct plan_options){ .caught = UINT64_MAX, .puns = true },
			 "f", NULL, NULL);
	CHECK(refused(REFUSED_MAY_FAULT));
}

/* An exit has no other place. */
static void exit_may_fault(void)
{
	module_begin();
	func("f", 0); put(MOV_EAX_1); put_middle(); put(LOAD, JMP_MEMORY); func_end();
	func("g", m.at); put(RET); func_end();
	module_plan_with(&(struct plan_options){ .caught = UINT64_MAX }, "f", NULL, NULL);
	CHECK(entry_only(REFUSED_MAY_FAULT));
}

/* Where the function began, the stack pointer was so much higher. */
static bool is_late(size_t off, uint16_t lowered)
{
	return is_entered_at(off) && entry_only(REFUSED_NONE) &&
		entry_site(probe())->lowered == lowered;
}

/* Entry and exits are paired by the stack pointer. */
static void stack_pointer(void)
{
	PLAN_BEGINNING(SEGV, LOAD);
	CHECK(is_late(3, 0));
	PLAN_BEGINNING(SEGV, PUSH_RBX, LOAD);
	CHECK(is_late(4, 8));
	PLAN_BEGINNING(SEGV, PUSH_MEMORY);
	CHECK(is_late(2, 8));
	PLAN_BEGINNING(SEGV, SUB_RSP(0x28), LOAD);
	CHECK(is_late(7, 0x28));
	/* pushw %bx; sub $4, %rsp; sub $-8, %rsp; pop %rbx; and $-16, %rsp */
	PLAN_BEGINNING(SEGV, 0x66, PUSH_RBX, LOAD);
	CHECK(refused(REFUSED_MAY_FAULT));
	PLAN_BEGINNING(SEGV, SUB_RSP(4), LOAD);
	CHECK(refused(REFUSED_MAY_FAULT));
	PLAN_BEGINNING(SEGV, SUB_RSP(0xf8), LOAD);
	CHECK(refused(REFUSED_MAY_FAULT));
	PLAN_BEGINNING(SEGV, POP_RBX, LOAD);
	CHECK(refused(REFUSED_MAY_FAULT));
	PLAN_BEGINNING(SEGV, 0x48, 0x83, 0xe4, 0xf0, LOAD);	/* how does it return? */
	CHECK(refused(REFUSED_JUMP_TABLE));
	/* mov %rsp, %rax: what is stored by it may lie below. */
	PLAN_BEGINNING(SEGV, 0x48, 0x89, 0xe0, LOAD);
	CHECK(refused(REFUSED_MAY_FAULT));
	/* Too far from where it began. */
	PLAN_BEGINNING(SEGV, LOAD, SUB_RSP(0x78), LOAD, SUB_RSP(0x78), LOAD, SUB_RSP(0x78), LOAD,
		       SUB_RSP(0x78), LOAD);
	CHECK(is_late(31, 4 * 0x78));
	PLAN_BEGINNING(SEGV, LOAD, SUB_RSP(0x78), LOAD, SUB_RSP(0x78), LOAD, SUB_RSP(0x78), LOAD,
		       SUB_RSP(0x78), LOAD, SUB_RSP(0x78), LOAD);
	CHECK(refused(REFUSED_MAY_FAULT));
}

/* Does the stub's call of `routine` tell this? `late` is in the words of late entries. */
static bool tells(uint64_t word, raddr_t routine, uint64_t late)
{
	const struct routines to = { .entry = TEXT + 0x80000, .exit = TEXT + 0x80100,
				     .mark = TEXT + 0x80200, .late = TEXT + 0x80300,
				     .late_word = late };
	struct placed_site *s = placed_entry();
	uint8_t code[256];
	bool found = false, called = false;

	s->stub = TEXT + 0x90000;
	if (plan_place(m.arch, &m.probes[0], s, m.text + (s->site.pc - TEXT), &to, code,
		       sizeof(code)))
		return false;
	for (size_t i = 0; i + 8 <= s->stub_size; i++) {
		int32_t rel;

		memcpy(&rel, code + i, 4);
		found |= memcmp(code + i, &word, 8) == 0;
		called |= s->stub + i + 4 + (raddr_t)(int64_t)rel == routine;
	}
	return found && called;
}

static void told(void)
{
	const uint64_t func = 0x123;

	PLAN_BEGINNING(SEGV, PUSH_RBX, LOAD);
	m.probes[0].id = func;
	CHECK(tells(REC_ENTRY | (1ull | REC_UNWATCHED) << REC_LATE_SHIFT |
		    func << REC_FUNC_SHIFT, TEXT + 0x80300, REC_UNWATCHED));
	CHECK(tells(REC_ENTRY | 1ull << REC_LATE_SHIFT | func << REC_FUNC_SHIFT,
		    TEXT + 0x80300, 0));
	m.probes[0].entry_only = REFUSED_EXIT_NO_ROOM;
	CHECK(tells(func << REC_FUNC_SHIFT, TEXT + 0x80200, REC_UNWATCHED));
	PLAN_BEGINNING(SEGV, LOAD);
	m.probes[0].id = func;
	CHECK(tells(REC_ENTRY | func << REC_FUNC_SHIFT, TEXT + 0x80000, REC_UNWATCHED));
}

/* A record is made below the stack pointer, where a leaf may keep something. */
static void below_the_stack(void)
{
	/* mov 8(%rsp), %al; mov -8(%rsp), %al; mov -0x80(%rsp), %al */
	PLAN_BEGINNING(SEGV, 0x8a, 0x44, 0x24, 0x08, LOAD);
	CHECK(is_entered_at(7));
	PLAN_BEGINNING(SEGV, 0x88, 0x44, 0x24, 0xf8, LOAD);
	CHECK(refused(REFUSED_MAY_FAULT));
	PLAN_BEGINNING(SEGV, LOAD, 0x88, 0x84, 0x24, 0x80, 0xff, 0xff, 0xff, LOAD);
	CHECK(is_entered_at(3));
	/* mov %al, (%rsp,%rax); lea (%rsp), %rax; mov %al, -8(%r12) */
	PLAN_BEGINNING(SEGV, 0x88, 0x04, 0x04, LOAD);
	CHECK(refused(REFUSED_MAY_FAULT));
	PLAN_BEGINNING(SEGV, 0x48, 0x8d, 0x04, 0x24, LOAD);
	CHECK(refused(REFUSED_MAY_FAULT));
	PLAN_BEGINNING(SEGV, 0x41, 0x88, 0x44, 0x24, 0xf8, LOAD);
	CHECK(is_entered_at(8));
	/* vmovd %xmm0, 4(%rdi); vmovd %xmm0, 4(%rsp), whose base is hidden */
	PLAN_BEGINNING(SEGV, 0xc5, 0xf9, 0x7e, 0x47, 0x04);
	CHECK(is_entered_at(5));
	PLAN_BEGINNING(SEGV, 0xc5, 0xf9, 0x7e, 0x44, 0x24, 0x04);
	CHECK(refused(REFUSED_MAY_FAULT));
}

/* Iterations are no calls, and what comes by an unknown way may be one. */
static void others_arrive(void)
{
	const struct plan_options o = { .caught = 1ull << (SEGV - 1) };

	module_begin();
	func("f", 0); put(LOAD); put_middle(); put_rel8(JNE, 3); put(RET); func_end();
	module_plan_with(&o, "f", NULL, NULL);
	CHECK(refused(REFUSED_MAY_FAULT));
	module_begin();
	func("f", 0); put(LOAD); put_middle(); put_rel8(JNE, 0); put(RET); func_end();
	module_plan_with(&o, "f", NULL, NULL);
	CHECK(refused(REFUSED_MAY_FAULT));
	module_begin();
	func("f", 0); put(LOAD, MOV_EAX_1); put_middle(); put(NOTRACK_JMP_RAX); func_end();
	module_plan_with(&o, "f", NULL, NULL);
	CHECK(refused(REFUSED_MAY_FAULT));
	/* An exit before it would end a call that never began. */
	module_begin();
	func("g", 0x200); put(RET); func_end();
	func("f", 0); put(TEST_EDI); put_je(0x200); put(LOAD); put_middle(); put(RET); func_end();
	module_plan_with(&o, "f", NULL, NULL);
	CHECK(is_entered_at(0));
}

enum { END = 60 };		/* the last return, and as many bytes as lie before */

static size_t stranger;		/* where g jumps to; 0: there is no g */

/* f begins with a load, and with ways that part. In its end it may jump `back`. */
static void plan_ways(const uint8_t *bytes, size_t n, size_t back)
{
	module_begin();
	func("f", 0); put(LOAD, TEST_EDI); put_bytes(bytes, n); put_middle();
	put(ADD_RSP_40); put_rel8(JNE, back ? back : END + n); put(RET);
	put(ADD_RSP_40, RET); func_end();
	if (stranger) {
		func("g", 0x200); put_jmp(stranger); func_end();
	}
	module_plan_with(&(struct plan_options){ .caught = 1ull << (SEGV - 1) }, "f", NULL, NULL);
}

#define PLAN_WAYS(back, ...) plan_ways((const uint8_t[]){ __VA_ARGS__ }, \
				       sizeof((const uint8_t[]){ __VA_ARGS__ }), back)

/* Several ways come to where they meet, if none leaves, and no jump leads back to one of them. */
static void ways_meet(void)
{
	PLAN_WAYS(0, JE, 3, LOAD);
	CHECK(is_late(10, 0));
	PLAN_WAYS(10, JE, 3, LOAD);
	CHECK(refused(REFUSED_MAY_FAULT));
	PLAN_WAYS(7, JE, 3, LOAD);
	CHECK(refused(REFUSED_MAY_FAULT));
	stranger = 7;
	PLAN_WAYS(0, JE, 3, LOAD);
	CHECK(refused(REFUSED_MAY_FAULT));
	stranger = 0;
	/* They do not meet before the end. */
	PLAN_WAYS(0, JE, END + 5 - 7, LOAD);
	CHECK(refused(REFUSED_MAY_FAULT));
	/* One is a push lower. */
	PLAN_WAYS(0, JE, 4, LOAD, PUSH_RBX);
	CHECK(refused(REFUSED_MAY_FAULT));
	/* Loops, also from where the ways met first. */
	PLAN_WAYS(0, LOAD, JNE, (uint8_t)-7);
	CHECK(is_late(10, 0));
	PLAN_WAYS(0, LOAD, JNE, (uint8_t)-10);
	CHECK(is_late(10, 0));
	PLAN_WAYS(0, JE, 3, LOAD, JNE, (uint8_t)-5);
	CHECK(is_late(12, 0));
	PLAN_WAYS(0, JE, 3, LOAD, MOV_EAX_1, JNE, (uint8_t)-7);
	CHECK(is_late(17, 0));
}

/* Where nothing else has room at the start, and not before that was tried. */
static void no_room(void)
{
	struct plan_options o = { .puns = true };

	for (int puns = 0; puns < 2; puns++) {
		o.puns = puns;
		module_begin();
		func("f", 0); put(0x48, XOR_EAX, XOR_EAX); put_middle(); put(RET); func_end();
		/* Another function's branch into its first instruction, behind a prefix. */
		func("g", 0x100); put_jmp(1); func_end();
		module_plan_with(&o, "f", NULL, NULL);
		CHECK(puns ? probe()->sites[0].jump.len == 1 && probe()->sites[0].kept == 6 :
		      refused(REFUSED_BRANCH_INSIDE));
		/* And where none leads. */
		o.space = (struct range){ TEXT, TEXT + 0x10000 };
		module_plan_with(&o, "f", NULL, NULL);
		CHECK(puns ? is_entered_at(3) : refused(REFUSED_BRANCH_INSIDE));
		o.space = (struct range){ 0 };
	}
}

int main(void)
{
	may_fault();
	exit_may_fault();
	stack_pointer();
	told();
	below_the_stack();
	others_arrive();
	ways_meet();
	no_room();
	module_end();
	return failures != 0;
}

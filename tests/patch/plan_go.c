/* SPDX-License-Identifier: MIT */
/*
 * What may be displaced in a function of Go's? One test per situation; each fails if
 * the rule behind it is gone.
 */
#include "tests/patch/insns.h"
#include "tests/patch/rules.h"

#define CMP_RSP 0x49, 0x3b, 0x66, 0x10
#define CMP_R12 0x4d, 0x3b, 0x66, 0x10
#define LEA_R12 0x4c, 0x8d, 0xa4, 0x24, 0x38, 0xff, 0xff, 0xff
#define MOV_R12_RSP 0x49, 0x89, 0xe4
#define SUB_R12 0x49, 0x81, 0xec, 0, 0x20, 0, 0
#define JBE 0x76
#define JB 0x72
#define LOAD_RBP 0x48, 0x8b, 0x6c, 0x24, 0x20
#define LOAD_RBP_0 0x48, 0x8b, 0x2c, 0x24
#define LOAD_RAX 0x48, 0x8b, 0x80, 0x20, 1, 0, 0
#define MOVABS_RAX 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8
#define RECORD 0x51, 0x50, 0xa0		/* what a recording call begins with */

#define TIGHT 0x50, 0xa0			/* and one that takes a spill frame */
#define LOAD_G 0x64, 0x4c, 0x8b, 0x34, 0x25, 0xf0, 0xff, 0xff, 0xff
#define LOAD_G_BY 0x49, 0xc7, 0xc6, 0xf0, 0xff, 0xff, 0xff, 0x64, 0x4d, 0x8b, 0x36
#define ZERO_X15 0x45, 0x0f, 0x57, 0xff
#define LOAD_8 0x48, 0x8b, 0x40, 0x08	/* mov 8(%rax), %rax */
#define SUB_RSP_40 0x48, 0x83, 0xec, 0x28

enum { GROW = 0x60, G = -16, WRAPPER = 0x180 };

static void begin(void)
{
	module_begin();
	m.go = true;
	func("f", 0);
}

/* It asks for a small frame's room. */
static void begin_asking(void)
{
	begin();
	put(CMP_RSP);
	put_rel8(JBE, GROW);
}

/* Where the stack is made to grow, and then all begins anew. */
static void end(void)
{
	m.at = GROW;
	put_call(0x200);
	put_rel8(JMP8, 0);
	func_end();
}

/* What every function does between its begin and its last `size` bytes. */
static void middle(size_t size)
{
	put_n(NOP, GROW - size - m.at);
}

static void put_frame(void)
{
	middle(10);
	put(LOAD_RBP, ADD_RSP_40, RET);
}

static const uint8_t *stub_of(struct placed_site *s)
{
	static uint8_t code[STUB_CAP];

	CHECK(!place_site(m.plan, &m.probes[0], s, code));
	return code;
}

/* The window is the check, and the record stands behind its copy. */
static bool records_behind(size_t size)
{
	struct placed_site *s = placed_entry();
	const uint8_t *code = stub_of(s), record[] = { RECORD };
	size_t last = s->stub_off[s->site.ninsns - 1], grow;
	struct insn in;

	if (!site_is(probe(), probe()->nsites - 1, TACTIC_JUMP, 0, size, 0) ||
	    s->site.check != size)
		return false;
	CHECK(!m.arch->decode(code + last, 16, s->stub + last, &in));
	grow = in.dest - TEXT;
	return in.kind == INSN_BRANCH && grow == GROW &&
		!memcmp(code + last + in.size, record, sizeof(record)) &&
		memcmp(code, record, sizeof(record)) != 0;
}

static void small(void)
{
	begin_asking(); put_frame(); end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE) && records_behind(6) && rules_broken(m.plan) == 0);
}

static void large(void)
{
	begin(); put(LEA_R12, CMP_R12); put_rel8(JBE, GROW); put_frame(); end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE) && records_behind(14) && rules_broken(m.plan) == 0);
}

static void huge(void)
{
	begin(); put(MOV_R12_RSP, SUB_R12); put_rel8(JB, GROW); put(CMP_R12);
	put_rel8(JBE, GROW); put_frame(); end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE) && records_behind(18) && rules_broken(m.plan) == 0);
}

/* Where assembly calls what has g in its register: a thread's g is at G. */
static void put_wrapper(bool by)
{
	m.at = WRAPPER;
	put(ZERO_X15);
	if (by)
		put(LOAD_G_BY);
	else
		put(LOAD_G);
}

static bool records_tightly(bool by)
{
	const uint8_t record[] = { TIGHT };

	put_wrapper(by);
	module_plan("f");
	return !probe()->refusal && probe()->routines == ROUTINES_TIGHT && probe()->g == G &&
		!memcmp(stub_of(placed_entry()), record, sizeof(record));
}

/* There may be no room on its stack: recorded as where there is none, if it is known
 * whose it is. Of another's function that is no matter. */
static void without_check(void)
{
	begin(); put_frame(); end();
	module_plan("f");
	CHECK(refused(REFUSED_LITTLE_STACK));
	begin(); m.go = false; put_frame(); end(); put_wrapper(false);
	module_plan("f");
	CHECK(refused(REFUSED_NONE) && probe()->routines == ROUTINES_C);
	for (int by = 0; by < 2; by++) {
		begin(); put(NOP5); put_frame(); func_end();
		CHECK(records_tightly(by));
	}
	/* Of a register that is not the stack pointer. */
	begin(); put(0x49, 0x3b, 0x46, 0x10); put_rel8(JBE, GROW); put_frame(); end();
	module_plan("f");
	CHECK(refused(REFUSED_LITTLE_STACK));
	begin_asking(); put_frame(); end(); put_wrapper(false);
	module_plan("f");
	CHECK(refused(REFUSED_NONE) && probe()->routines == ROUTINES_MOVED);
}

/* A function that has to load g has it in the register where it begins, and need not have it
 * there where it returns. */
static void with_load(void)
{
	const uint8_t record[] = { TIGHT };

	for (int by = 0; by < 2; by++) {
		size_t size = 6 + (by ? 11 : 9);

		begin();
		if (by)
			put(LOAD_G_BY);
		else
			put(LOAD_G);
		put(CMP_RSP); put_rel8(JBE, GROW); put_frame(); end(); put_wrapper(by);
		module_plan("f");
		CHECK(entry_only(REFUSED_NONE) && probe()->routines == ROUTINES_TIGHT);
		CHECK(site_is(probe(), 1, TACTIC_JUMP, 0, size, 0));

		struct placed_site *s = placed_entry();
		const uint8_t *code = stub_of(s);

		CHECK(s->site.check == size &&
		      !memcmp(code + s->stub_off[s->site.ninsns - 1] + 6, record, sizeof(record)));
	}
}

/* It is `first`, `size` bytes; behind it the entry could be recorded. */
static void plan_passing(const uint8_t *first, size_t size, size_t back)
{
	begin(); put_bytes(first, size); put(NOP5); middle(12);
	if (back)
		put_rel8(JMP8, back);
	put_frame(); func_end(); put_wrapper(false);
	module_plan("f");
}

#define PLAN_PASSING(back, ...) \
	plan_passing((const uint8_t[]){ __VA_ARGS__ }, \
		     sizeof((const uint8_t[]){ __VA_ARGS__ }), back)

static bool is_entered_at(size_t off)
{
	return !probe()->refusal && entry_site(probe())->pc == TEXT + off;
}

/* The record is made behind an instruction that may fault, or is short, if all come
 * past it once, and with the stack pointer that there was. */
static void passes(void)
{
	PLAN_PASSING(0, LOAD_8);
	CHECK(is_entered_at(4));
	PLAN_PASSING(0, LOAD_8, LOAD_8, NOP);
	CHECK(is_entered_at(9));
	/* A jump comes there again. */
	PLAN_PASSING(4, LOAD_8);
	CHECK(refused(REFUSED_MAY_FAULT));
	PLAN_PASSING(4, LOAD_8, LOAD_8);
	CHECK(refused(REFUSED_MAY_FAULT));
	/* push %rbx; pop 8(%rax); push 8(%rax); mov 8(%rax), %rsp; and $-16, %rsp */
	PLAN_PASSING(0, 0x53);
	CHECK(refused(REFUSED_TOO_SHORT));
	PLAN_PASSING(0, 0x8f, 0x40, 0x08);
	CHECK(refused(REFUSED_MAY_FAULT));
	PLAN_PASSING(0, 0xff, 0x70, 0x08);
	CHECK(refused(REFUSED_MAY_FAULT));
	PLAN_PASSING(0, 0x48, 0x8b, 0x60, 0x08);
	CHECK(refused(REFUSED_MAY_FAULT));
	PLAN_PASSING(0, 0x48, 0x83, 0xe4, 0xf0);
	CHECK(refused(REFUSED_TOO_SHORT));
	/* and $1, %eax: the number in the field is no register. */
	PLAN_PASSING(0, 0x83, 0xe0, 0x01);
	CHECK(is_entered_at(3));
	/* A function that has asked for room is recorded behind that. */
	begin_asking(); put(LOAD_8); put_frame(); end(); put_wrapper(false);
	module_plan("f");
	CHECK(is_entered_at(0));
}

#define MOV_RBP_RSP 0x48, 0x89, 0xe5
#define LOAD_RCX 0x48, 0x8b, 0x88, 0x20, 1, 0, 0	/* mov 0x120(%rax), %rcx */
#define LOAD_RCX_BY 0x48, 0x8b, 0x8c, 0x08, 0x20, 1, 0, 0	/* mov 0x120(%rax,%rcx) */
#define LOAD_RCX_BY_RBX 0x48, 0x8b, 0x8b, 0x20, 1, 0, 0
#define ALIGNED 0x0f, 0x29, 0x80, 0x20, 1, 0, 0		/* movaps %xmm0, 0x120(%rax) */

static bool is_late(size_t off, uint16_t lowered)
{
	return is_entered_at(off) && entry_site(probe())->lowered == lowered;
}

/* Nothing is kept below a goroutine's stack pointer: so its address may be taken, too. It
 * is done where no pun has a place, of which here none leads anywhere. */
static void behind_push(void)
{
	struct plan_options o = { .puns = true, .space = { 0x7000000000, 0x7000001000 } };

	for (int puns = 0; puns < 2; puns++) {
		o.puns = puns;
		begin(); put(0x55, MOV_RBP_RSP, NOP5); put_frame(); func_end();
		put_wrapper(false);
		module_plan_with(&o, "f", NULL, NULL);
		CHECK(puns ? is_late(4, 8) : refused(REFUSED_TOO_SHORT));
	}
	begin(); m.go = false; put(XOR_EAX, LOAD_8, MOV_RBP_RSP, LOAD_8, NOP5); put_frame();
	func_end(); put_wrapper(false);
	o.caught = UINT64_MAX;
	module_plan_with(&o, "f", NULL, NULL);
	CHECK(refused(REFUSED_MAY_FAULT));
}

static void plan_reaching(const uint8_t *bytes, size_t n)
{
	begin(); put_bytes(bytes, n); put(LOAD_RCX, RET); func_end(); put_wrapper(false);
	module_plan("f");
}

#define PLAN_REACHING(...) plan_reaching((const uint8_t[]){ __VA_ARGS__ }, \
					 sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* What has been reached can be reached again by the same register, while that has not
 * changed, as long as no jump comes from where it was not reached. */
static void reaches_again(void)
{
	PLAN_REACHING(LOAD_RCX);
	CHECK(is_entered_at(7));
	PLAN_REACHING(LOAD_RCX, 0x31, 0xc9);
	CHECK(is_entered_at(9));
	PLAN_REACHING(NOP);
	CHECK(refused(REFUSED_TOO_SHORT));
	PLAN_REACHING(LOAD_RCX, XOR_EAX);
	CHECK(refused(REFUSED_MAY_FAULT));
	PLAN_REACHING(LOAD_8);
	CHECK(refused(REFUSED_MAY_FAULT));
	/* Not all of it may have been reached, or not this; or something else went well. */
	PLAN_REACHING(LOAD_RCX_BY);
	CHECK(refused(REFUSED_MAY_FAULT));
	PLAN_REACHING(ALIGNED);
	CHECK(refused(REFUSED_MAY_FAULT));
	/* cmpxchg %ecx, (%rbx); xchg %rax, %rbx; pop %rax */
	PLAN_REACHING(LOAD_RCX, 0x0f, 0xb1, 0x0b);
	CHECK(refused(REFUSED_MAY_FAULT));
	PLAN_REACHING(LOAD_RCX, 0x48, 0x93);
	CHECK(refused(REFUSED_MAY_FAULT));
	PLAN_REACHING(LOAD_RCX, 0x58);
	CHECK(refused(REFUSED_MAY_FAULT));
	/* add $1, %al; lea 1(%rcx), %ecx */
	PLAN_REACHING(LOAD_RCX, 0x04, 1);
	CHECK(refused(REFUSED_MAY_FAULT));
	PLAN_REACHING(LOAD_RCX, 0x8d, 0x49, 1);
	CHECK(is_entered_at(10));
	/* mov 0x120(%rbx), %rcx; mov %cl, %bh */
	begin(); put(LOAD_RCX_BY_RBX, 0x88, 0xcf, LOAD_RCX_BY_RBX, RET); func_end();
	put_wrapper(false);
	module_plan("f");
	CHECK(refused(REFUSED_MAY_FAULT));
	/* A jump over the first has not reached it. */
	PLAN_REACHING(TEST_EDI, JE, 7, LOAD_RCX);
	CHECK(refused(REFUSED_TOO_SHORT));
	PLAN_REACHING(LOAD_RCX, TEST_EDI, JE, 2, TEST_EDI);
	CHECK(is_entered_at(13));
	/* Another's function may handle the fault as it likes. */
	begin(); m.go = false; put(LOAD_RCX, LOAD_RCX, RET); func_end();
	module_plan_with(&(struct plan_options){ .caught = UINT64_MAX }, "f", NULL, NULL);
	CHECK(refused(REFUSED_MAY_FAULT));
}

/* The first function of a goroutine returns behind the nop. */
static void returned_into(void)
{
	begin(); put(NOP); put_call(0x200); put(NOP); func_end(); put_wrapper(false);
	m.unsafe = (struct range){ TEXT, TEXT + m.at };
	module_plan("f");
	CHECK(is_entered_at(1) && entry_site(probe())->window == 5);
}

/* Before there is a thread pointer, or the thread's own, nothing is recorded. */
static void thread_pointer(void)
{
	PLAN_PASSING(0, NOP5, SUB_RSP_40, 0xb8, 158, 0, 0, 0, SYSCALL);
	CHECK(refused(REFUSED_RESERVED));
	for (int puns = 0; puns < 2; puns++)
		for (uint8_t number = 157; number < 160; number++) {
			begin(); put(NOP5, SUB_RSP_40, 0x48, 0xc7, 0xc0, number, 0, 0, 0);
			put(SYSCALL, NOP5);
			put_frame(); func_end(); put_wrapper(false);
			module_plan_with(&(struct plan_options){ .puns = puns }, "f", NULL, NULL);
			CHECK(number != 158 ? is_entered_at(0) :
			      puns ? is_late(18, 40) : refused(REFUSED_RESERVED));
		}
}

/* A note before the first function is data, whatever it looks like. */
static void note(void)
{
	for (int known = 0; known < 2; known++) {
		module_begin();
		m.go = true;
		m.at = 0x10; put_rel8(JMP8, 0x43);
		func("f", 0x40); put(NOP5); put_middle(); put(ADD_RSP_40, RET); func_end();
		put_wrapper(false);
		if (known)
			m.note = (struct range){ TEXT + 0x10, TEXT + 0x20 };
		module_plan("f");
		CHECK(known ? is_entered_at(0x40) : refused(REFUSED_BRANCH_INSIDE));
	}
}

/* It begins with reading g, as what the compiler makes to call others. Nothing else does
 * that may fault: not behind that, nor by another register, nor for another question. */
static void reads_g(void)
{
	static const uint8_t asks[] = { 0x4d, 0x8b, 0x66, 0x20, 0x4d, 0x85, 0xe4, JNE, 4 };
	uint8_t other[sizeof(asks)];

	for (size_t changed = 0; changed < sizeof(asks); changed++) {
		memcpy(other, asks, sizeof(asks));
		other[changed] ^= changed ? 1 : 0;
		begin(); put_bytes(other, sizeof(other)); put_frame(); func_end();
		put_wrapper(false);
		module_plan_with(&(struct plan_options){ .puns = true }, "f", NULL, NULL);
		CHECK(changed == 0 || changed == 8 ? is_entered_at(0) : !is_entered_at(0));
	}
	begin(); put(NOP); put_bytes(asks, sizeof(asks)); put_frame(); func_end();
	put_wrapper(false);
	module_plan_with(&(struct plan_options){ .puns = true }, "f", NULL, NULL);
	CHECK(!probe()->refusal && probe()->sites[probe()->nsites - 1].window < 5);
}

static const struct site *exit_site(void)
{
	return &probe()->sites[0];
}

/* The bytes of one instruction change, and no other's: a preempted goroutine may
 * go on at `add` or `ret`. */
static void exits(void)
{
	begin_asking(); put_frame(); end();
	module_plan("f");
	CHECK(site_is(probe(), 0, TACTIC_JUMP, GROW - 10, 10, 0) && exit_site()->jump.len == 5);
	/* One of four bytes: a pun, that writes these. */
	begin_asking(); middle(9); put(LOAD_RBP_0, ADD_RSP_40, RET); end();
	module_plan_with(&(struct plan_options){ .puns = true }, "f", NULL, NULL);
	CHECK(entry_only(REFUSED_NONE));
	CHECK(exit_site()->tactic == TACTIC_PUN && exit_site()->jump.len <= 4);
	begin_asking(); middle(9); put(LOAD_RBP_0, ADD_RSP_40, RET); end();
	module_plan("f");
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
	/* No goroutine: as ever. */
	begin(); m.go = false; put(TEST_EDI); middle(9); put(LOAD_RBP_0, ADD_RSP_40, RET); end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE) && exit_site()->tactic == TACTIC_JUMP);
}

/* The runtime says that it preempts no goroutine at these bytes of the text. */
static void plan_unsafe(size_t from, size_t to)
{
	struct range r = { TEXT + from, TEXT + to };

	begin_asking(); middle(9); put(LOAD_RBP_0, ADD_RSP_40, RET); end();
	m.unsafe = r;
	module_plan("f");
}

/* Where no goroutine is preempted several instructions may change, and no others. */
static void unsafe_points(void)
{
	enum { ADD = GROW - 5 };

	plan_unsafe(ADD + 4, GROW);
	CHECK(entry_only(REFUSED_NONE) && site_is(probe(), 0, TACTIC_JUMP, ADD, 5, 0));
	plan_unsafe(ADD, ADD + 4);
	CHECK(entry_only(REFUSED_NONE) && site_is(probe(), 0, TACTIC_JUMP, ADD - 4, 9, 0));
	plan_unsafe(ADD + 1, ADD + 4);
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
	plan_unsafe(0, GROW - 24);
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
}

/* A word of data that looks like an address in a function's middle is a number, if the
 * function is certain to be Go's. */
static void numbers(void)
{
	for (int unclear = 0; unclear < 2; unclear++) {
		begin_asking(); put_frame(); end();
		m.exec = true;
		m.unclear = unclear;
		memcpy(m.rodata, &(uint64_t){ TEXT + 4 }, 8);
		module_plan("f");
		CHECK(refused(unclear ? REFUSED_BRANCH_INSIDE : REFUSED_NONE));
	}
}

/* Nor does one lead to what pads between its functions: the shortest have no other room. */
static void numbers_in_padding(void)
{
	for (int go = 0; go < 2; go++) {
		module_begin();
		m.go = go;
		m.exec = true;
		func("f", 0); put(RET); func_end();
		put_n(INT3, 15);
		func("g", 16); put(RET); func_end();
		put_wrapper(false);
		memcpy(m.rodata, &(uint64_t){ TEXT + 4 }, 8);
		module_plan("f");
		CHECK(refused(go ? REFUSED_NONE : REFUSED_BRANCH_INSIDE));
	}
}

/* A frame's end with padding in reach of a short jump, or with room for a host. */
static void plan_end(bool padding)
{
	begin_asking(); middle(24);
	put(MOVABS_RAX); put_call(0x200); put(LOAD_RBP_0, ADD_RSP_40, RET); end();
	if (padding)
		put(INT3, INT3, INT3, INT3, INT3, INT3, INT3, INT3);
	module_plan_with(&(struct plan_options){ .hosts = !padding }, "f", NULL, NULL);
}

/* The runtime takes a thread in padding for one in the function before it. */
static void holes(void)
{
	plan_end(true);
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
	plan_end(false);
	CHECK(entry_only(REFUSED_EXIT_NO_ROOM));
}

/* The runtime makes a panic of a fault by where it was; also if it will handle the
 * signal only later. */
static void faults(void)
{
	begin_asking(); middle(8); put(LOAD_RAX, RET); end();
	module_plan_with(&(struct plan_options){ .puns = true }, "f", NULL, NULL);
	CHECK(!probe()->refusal);
	for (size_t i = 0; i + 1 < probe()->nsites; i++)
		CHECK(probe()->sites[i].pc != TEXT + GROW - 8);
}

/* Nothing but the runtime leads to the last return. */
static void recovers(void)
{
	begin_asking(); put(NOP5, LOAD_RBP, ADD_RSP_40, RET, NOP5, LOAD_RBP, ADD_RSP_40, RET);
	middle(0); end();
	module_plan("f");
	CHECK(probe()->nexits == 2);
}

int main(void)
{
	small();
	large();
	huge();
	without_check();
	with_load();
	passes();
	behind_push();
	reaches_again();
	returned_into();
	thread_pointer();
	note();
	reads_g();
	exits();
	unsafe_points();
	numbers();
	numbers_in_padding();
	holes();
	faults();
	recovers();
	module_end();
	return failures != 0;
}

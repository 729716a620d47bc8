/* SPDX-License-Identifier: MIT */
/*
 * What leaves a function otherwise than by a return to its caller or a plain tail call?
 */
#include "tests/patch/insns.h"

/* A function that ends with these bytes, in a frame or, with no table, in none that is known. */
#define ENDS_WITH(why, cfa, ...) do { \
	module_begin(); \
	func("f", 0); func_cfa(cfa); put(MOV_EAX_1); put_middle(); put(__VA_ARGS__); func_end(); \
	module_plan("f"); \
	CHECK(entry_only(why)); \
} while (0)

/* Its record would be made where the address lies that it goes by. */
static void jumps_by_what_lies_below(void)
{
	ENDS_WITH(REFUSED_LEFT_OTHERWISE, 8, 0xff, 0x64, 0x24, 0xf8);	/* jmp *-8(%rsp) */
	ENDS_WITH(REFUSED_NONE, 8, 0xff, 0x64, 0x24, 8);
}

static void returns_to_what_was_pushed(void)
{
	ENDS_WITH(REFUSED_LEFT_OTHERWISE, 8, 0x50, RET);	/* push %rax */
	ENDS_WITH(REFUSED_NONE, 8, POP_RBX, RET);
}

#define POP_RCX 0x59
#define LFENCE 0x0f, 0xae, 0xe8
#define JMP_RCX 0xff, 0xe1
#define MOV_RCX_FROM_RSP(n) 0x48, 0x8b, 0x4c, 0x24, n

/* As clang's -mlvi-cfi returns; but what was spilled may be popped, and an argument
 * loaded. */
static void jumps_by_its_way_back(void)
{
	ENDS_WITH(REFUSED_LEFT_OTHERWISE, 8, POP_RCX, LFENCE, JMP_RCX);
	ENDS_WITH(REFUSED_LEFT_OTHERWISE, 0, POP_RCX, JMP_RCX);
	ENDS_WITH(REFUSED_LEFT_OTHERWISE, 8, MOV_RCX_FROM_RSP(0), JMP_RCX);
	ENDS_WITH(REFUSED_NONE, 8, MOV_RCX_FROM_RSP(8), JMP_RCX);
	ENDS_WITH(REFUSED_LEFT_OTHERWISE, 0, MOV_RCX_FROM_RSP(8), JMP_RCX);
	module_begin();
	func("f", 0); func_cfa(16); put(0x50); put_middle(); put(POP_RCX); func_down();
	put(JMP_RCX); func_end();
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE));
}

#define MOV_RSP_FROM_RDI 0x48, 0x89, 0xfc
#define MOV_RSP_FROM_AT_RDI 0x48, 0x8b, 0x67, 0x30	/* 0x30(%rdi) */
#define MOV_RSP_FROM_RBP 0x48, 0x89, 0xec

/* As boost's ontop_fcontext and musl's longjmp do; but a frame may be taken down. */
static void jumps_from_another_stack(void)
{
	ENDS_WITH(REFUSED_LEFT_OTHERWISE, 0, MOV_RSP_FROM_RDI, POP_RBX, JMP_RCX);
	ENDS_WITH(REFUSED_LEFT_OTHERWISE, 0, MOV_RSP_FROM_AT_RDI, 0xff, 0x67, 0x38);
	ENDS_WITH(REFUSED_NONE, 0, MOV_RSP_FROM_RBP, JMP_RCX);
	ENDS_WITH(REFUSED_NONE, 8, MOV_RSP_FROM_RDI, JMP_RCX);
	ENDS_WITH(REFUSED_NONE, 0, MOV_RSP_FROM_RDI, RET);
}

/* call over; pause; lfence; jmp back; over: mov %rax, (%rsp); ret */
static void put_thunk(size_t at)
{
	func("thunk", at);
	put(0xe8, 7, 0, 0, 0, 0xf3, 0x90, LFENCE, JMP8, 0xf9, 0x48, 0x89, 4, 0x24, RET);
	func_end();
}

/* What jumps by way of one may have its places in the function, in a frame or by a
 * table; else it is a tail call. In line it may lead into any window. */
static void jumps_by_a_thunk(void)
{
	module_begin();
	func("f", 0); func_cfa(48); put(MOV_EAX_1); put_middle(); put_jmp(0x80); func_end();
	put_thunk(0x80);
	module_plan("f");
	CHECK(entry_only(REFUSED_JUMP_TABLE));
	module_begin();
	func("f", 0); func_cfa(8); put(MOV_EAX_1); put_middle(); put_jmp(0x80); func_end();
	put_thunk(0x80);
	module_plan("f");
	CHECK(entry_only(REFUSED_NONE) && probe()->nexits == 1);
	module_begin();
	func("f", 0); func_cfa(8); put(XOR_EAX); put_middle();
	put(0xe8, 4, 0, 0, 0, NOP, NOP, JMP8, 0xfc, 0x48, 0x89, 4, 0x24, RET); func_end();
	module_plan("f");
	CHECK(refused(REFUSED_JUMP_TABLE));
}

int main(void)
{
	jumps_by_what_lies_below();
	returns_to_what_was_pushed();
	jumps_by_its_way_back();
	jumps_from_another_stack();
	jumps_by_a_thunk();
	module_end();
	return failures != 0;
}

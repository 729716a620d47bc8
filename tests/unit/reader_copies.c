/* SPDX-License-Identifier: MIT */
/* Are marks of copies of inlined functions told as calls: which one ends, where, among which? */
#include "tests/unit/reader_world.h"

static struct world w;

/* A mark whose place on the stack is so many bytes below an address of which the record has not all
 * bits. */
static void mark(uint64_t func, uint64_t below, uint64_t t)
{
	uint64_t sp = 0x7ffe00000100 - below;

	world_ext(&w, 0, EXT_MARK, func | (sp >> 3 & ((1u << MARK_AT_BITS) - 1)) << MARK_AT, t);
}

static void begin(void)
{
	world_make(&w, 1, 4);
	world_read(&w, 0);
	world_claim(&w, 0, 1, 0);
}

static void test_nested(void)
{
	begin();
	world_put(&w, 0, REC_ENTRY, ACCEPT, 1);
	mark(COPY_OUTER, 64, 2);
	mark(COPY_INNER, 64, 3);
	world_put(&w, 0, REC_ENTRY, READ, 4);
	world_put(&w, 0, REC_EXIT, READ, 5);
	mark(END_INNER, 64, 6);
	mark(COPY_INNER, 64, 7);
	mark(END_BOTH, 64, 8);
	world_put(&w, 0, REC_EXIT, ACCEPT, 9);
	CHECK_TOLD(&w, false, "0+accept 0+outer 0+inner 0+read 0-read 0-inner 0+inner 0-inner "
		   "0-outer 0-accept");
	world_end(&w);
}

/* Several that begin with the same instruction: those that are calls, those that are marks, and
 * what is none. Come to again, calls of them are over. */
static void test_with(void)
{
	begin();
	mark(COPY_WITH, 64, 1);
	mark(END_INNER, 64, 2);
	mark(COPY_INNER, 64, 3);
	mark(END_BOTH, 64, 4);
	mark(COPY_WITH, 64, 5);
	mark(COPY_WITH, 64, 6);
	mark(COPY_WITH, 96, 7);
	CHECK_TOLD(&w, false, "0+outer 0.with 0+inner 0-inner 0+inner 0-inner 0-outer "
		   "0+outer 0.with 0+inner 0?inner 0?outer 0+outer 0.with 0+inner "
		   "0+outer 0.with 0+inner");
	world_end(&w);
}

/* An end that is come to from elsewhere tells nothing; nor does one of another copy. */
static void test_no_copy(void)
{
	begin();
	mark(END_BOTH, 64, 1);
	mark(COPY_OUTER, 64, 2);
	mark(END_INNER, 64, 3);
	mark(END_BOTH, 64, 4);
	mark(END_BOTH, 64, 5);
	CHECK_TOLD(&w, false, "0+outer 0-outer");
	world_end(&w);
}

/* The same code of calls further out and in, across the place where the bits begin anew. */
static void test_recursion(void)
{
	begin();
	mark(COPY_OUTER, 64, 1);
	world_put(&w, 0, REC_ENTRY, READ, 2);
	mark(COPY_OUTER, 0x200, 3);
	mark(END_BOTH, 0x200, 4);
	world_put(&w, 0, REC_EXIT, READ, 5);
	mark(END_BOTH, 64, 6);
	/* No function between them is probed. */
	mark(COPY_OUTER, 64, 7);
	mark(COPY_OUTER, 0x200, 8);
	mark(END_BOTH, 0x200, 9);
	mark(END_BOTH, 64, 10);
	CHECK_TOLD(&w, false, "0+outer 0+read 0+outer 0-outer 0-read 0-outer "
		   "0+outer 0+outer 0-outer 0-outer");
	world_end(&w);
}

/* What is left otherwise: by longjmp, by an exception, with the call around it, by its thread. */
static void test_left(void)
{
	begin();
	mark(COPY_OUTER, 64, 1);
	mark(COPY_INNER, 0x200, 2);
	mark(COPY_OUTER, 64, 3);
	mark(COPY_INNER, 64, 4);
	mark(CATCH, 64, 5);
	world_put(&w, 0, REC_ENTRY, ACCEPT, 6);
	mark(COPY_OUTER, 0x80, 7);
	world_put(&w, 0, REC_EXIT, ACCEPT, 8);
	CHECK_TOLD(&w, false, "0+outer 0+inner 0?inner 0?outer 0+outer 0+inner 0!inner 0!outer "
		   "0.caught 0+accept 0+outer 0?outer 0-accept");
	world_end(&w);
}

/* One that is told as another of its name ends by its own ends. */
static void test_name(void)
{
	begin();
	mark(COPY_MORE, 64, 1);
	mark(END_INNER, 64, 2);
	mark(END_BOTH, 64, 3);
	CHECK_TOLD(&w, false, "0+outer 0-outer");
	world_end(&w);
}

/* The payload counts frames that remain, and has none of a copy; what is lost may have been an
 * end. */
static void test_unwound(void)
{
	begin();
	world_put(&w, 0, REC_ENTRY, ACCEPT, 1);
	mark(COPY_OUTER, 64, 2);
	world_put(&w, 0, REC_ENTRY, READ, 3);
	world_put(&w, 0, REC_ENTRY, WAIT, 4);
	world_ext(&w, 0, EXT_UNWOUND, 1, 5);
	mark(END_BOTH, 64, 6);
	world_put(&w, 0, REC_EXIT, ACCEPT, 7);
	CHECK_TOLD(&w, false, "0+accept 0+outer 0+read 0+wait 0!wait 0!read 0-outer 0-accept");
	world_end(&w);
}

/* Where it is not said where on the stack it was made, a mark is one, and a hidden one none. */
static void test_nowhere(void)
{
	begin();
	world_ext(&w, 0, EXT_MARK, COPY_OUTER, 1);
	world_ext(&w, 0, EXT_MARK, END_BOTH, 2);
	CHECK_TOLD(&w, false, "0.outer");
	world_end(&w);
}

int main(void)
{
	test_nested();
	test_with();
	test_no_copy();
	test_recursion();
	test_left();
	test_name();
	test_unwound();
	test_nowhere();
	return failures != 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Does a condition pass the calls that it should, at the entry or at the exit; and is what is wrong
 * with one said at its column?
 */
#include "tests/unit/condition_world.h"

/* ---- numbers ------------------------------------------------------------- */

static void numbers(void)
{
	by_hand("f(fd:int, n:u64, c:i8, h:u16, s:long, b:bool, ret:int)");
	regs.general[RDI] = 0x5555555500000003;
	regs.general[RSI] = UINT64_MAX;
	regs.general[RDX] = 0x80;
	regs.general[RCX] = 0xffff;
	regs.general[R8] = (uint64_t)-5;
	regs.general[R9] = 1;
	passes("fd == 3");
	passes("3 == fd");
	passes("fd");
	passes("!(fd == 4)");
	passes("fd != 4 && fd >= 3 && fd <= 3 && fd < 4 && fd > 2");
	passes("4 > fd && 2 < fd && 3 <= fd && 3 >= fd && 4 != fd");
	fails("fd == 3 && fd == 4");
	passes("fd == 4 || fd == 3");
	passes("arg1 == 3 && arg3 == -128");
	passes("args.fd == 3");
	passes("n == 18446744073709551615 && n == 0xffffffffffffffff && n == -1");
	passes("n > 9223372036854775807");
	passes("c == -128 && c < 0 && -c == 128");
	passes("h == 65535 && h == -1");
	passes("c == 0x80 && c == '\\x80' && c != 0x7f && s == 0xfffffffffffffffb");
	expect("retval == 0xffffffff", VERDICT_OPEN, (uint32_t)-1, VERDICT_PASSES);
	passes("s == -5 && s < 0 && s < fd && s < n");
	fails("n < s");
	passes("n > s && fd > s");
	passes("b && b == true && b != false");
	fails("!b");
	passes("fd * 2 + 1 == 7");
	passes("7 == 1 + 2 * fd");
	passes("s / 2 == -2 && s % 2 == -1 && (s >> 1) == -3");
	passes("n / 2 == 0x7fffffffffffffff && n >> 63 == 1 && n % 10 == 5");
	passes("(fd & 1) == 1 && (fd | 4) == 7 && (fd ^ 1) == 2 && ~fd == -4 && fd << 4 == 48");
	passes("(1 << 20) > fd");
	passes("fd + s == -2");
	passes("fd - 4 < 0 && (h - 65536) < 0");
	unknown("fd / (fd - 3) == 1");
	unknown("fd % (fd - 3) == 0");
	unknown("fd << (fd + 61) == fd");
	unknown("(s + 5 - 1 << 63) / (s + 4) == fd");
	passes("'a' == 97 + fd - 3 && fd == '\\x03'");
	passes("0b11 == fd && 03 == fd && 0x3 == fd && 3u == fd && 3ULL == fd");
	expect("retval < 0", VERDICT_OPEN, (uint32_t)-1, VERDICT_PASSES);
	expect("retval < 0", VERDICT_OPEN, 1, VERDICT_FAILS);
	expect("retval < 0 && fd == 4", VERDICT_FAILS, (uint32_t)-1, VERDICT_FAILS);
	expect("retval < 0 || fd == 3", VERDICT_PASSES, 5, VERDICT_PASSES);
	expect("retval < 0 || fd == 4", VERDICT_OPEN, 5, VERDICT_FAILS);
	expect("retval + fd == 8", VERDICT_OPEN, 5, VERDICT_PASSES);
	expect("!retval", VERDICT_OPEN, 0, VERDICT_PASSES);
	expect("retval / (fd - 3) == 1", VERDICT_OPEN, 0, VERDICT_FAILS);
}

/* Arguments may have names that are words of the language. */
static void names_of_arguments(void)
{
	by_hand("f(str:str, retval:int, in:int, args:int, comm:ptr, ret:int)");
	at_world(0x200, "a");
	regs.general[RDI] = BASE + 0x200;
	regs.general[RSI] = 2;
	regs.general[RDX] = 3;
	regs.general[RCX] = 4;
	regs.general[R8] = BASE + 0x200;
	passes("str(str) == \"a\" && str == \"a\" && in == 3 && args == 4 && arg2 == 2");
	passes("str(comm) == \"a\"");
	expect("retval == 5", VERDICT_OPEN, 5, VERDICT_PASSES);
}

static void of_facts(void)
{
	by_hand("f(tid:int, ret:int)");
	facts = (struct condition_facts){ .duration_ns = 10000001, .tid = 77, .pid = 70, .cpu = 3,
					  .depth = 2, .caller = 0x1100, .comm = "redis" };
	regs.general[RDI] = 5;
	expect("duration > 10ms", VERDICT_OPEN, 0, VERDICT_PASSES);
	expect("duration > 10.000001ms", VERDICT_OPEN, 0, VERDICT_FAILS);
	expect("duration > 1s / 100", VERDICT_OPEN, 0, VERDICT_PASSES);
	expect("duration / 2 > 5ms && 1m > duration", VERDICT_OPEN, 0, VERDICT_FAILS);
	expect("duration >= 10000us && tid == 77", VERDICT_OPEN, 0, VERDICT_PASSES);
	expect("duration >= 10000us && tid == 78", VERDICT_FAILS, 0, VERDICT_FAILS);
	/* Once it has been open for so long it is certain what comes of some. */
	for (open_ns = 999; open_ns <= 1001; open_ns++) {
		bool more = open_ns > 1000, enough = open_ns >= 1000;
		enum verdict at_least = enough ? VERDICT_PASSES : VERDICT_OPEN;

		expect("duration > 1us", more ? VERDICT_PASSES : VERDICT_OPEN, 0, VERDICT_PASSES);
		expect("duration >= 1us", at_least, 0, VERDICT_PASSES);
		expect("duration != 1us", more ? VERDICT_PASSES : VERDICT_OPEN, 0, VERDICT_PASSES);
		expect("duration < 1us", enough ? VERDICT_FAILS : VERDICT_OPEN, 0, VERDICT_FAILS);
		expect("duration <= 1us", more ? VERDICT_FAILS : VERDICT_OPEN, 0, VERDICT_FAILS);
		expect("duration == 1us", more ? VERDICT_FAILS : VERDICT_OPEN, 0, VERDICT_FAILS);
		expect("!(duration < 1us) && duration < 1m", VERDICT_OPEN, 0, VERDICT_PASSES);
		expect("duration >= 1us || retval == 5", at_least, 5, VERDICT_PASSES);
	}
	open_ns = 0;
	passes("tid == 77 && args.tid == 5 && arg1 == 5");
	passes("pid == 70 && cpu == 3 && depth < 3 && depth");
	wrong("tid == -1", -EINVAL, 4, "this is never below 0");
	passes("comm == \"redis\" && comm != \"redi\" && \"redis\" == comm");
	fails("comm == \"redis2\"");
	facts.comm[0] = '\0';
	fails("comm == \"redis\"");
	fails("comm != \"redis\"");
	passes("comm == \"redis\" || pid == 70");
	passes("caller == \"net_*\" && caller == 0x1100");
	facts.caller = 0x1101;
	fails("caller == \"net_*\"");
	facts.caller = 0x1000;
	fails("caller == \"net_*\"");
	passes("caller != \"net_*\"");
	facts.caller = 0x2050;
	passes("caller == \"net_*\"");
	begin("tid == 1 || caller == \"net_*\"");
	CHECK_EQ(condition.needs, CONDITION_TID | CONDITION_CALLER);
	CHECK(!condition.at_exit && !condition.samples);
	begin("1 in 100 && duration > 1s");
	CHECK_EQ(condition.needs, CONDITION_DURATION);
	CHECK(condition.at_exit && condition.samples);
	facts.random = 0;
	passes("1 in 100");
	facts.random = UINT64_MAX / 100;
	passes("1 in 100");
	facts.random = UINT64_MAX / 100 + 1;
	fails("1 in 100");
	passes("1 in 99");
	facts.random = UINT64_MAX;
	passes("1 in 1");
	fails("1 in 2");
}

/* ---- floats -------------------------------------------------------------- */

static void floats(void)
{
	float f = 1.5f, nan = __builtin_nanf(""), tiny = 1e-45f;
	double d = -2.25;

	by_hand("f(a:f32, b:f64, c:f32, d:f32, n:long, x:f80, ret:f64)");
	memcpy(regs.vector[0], &f, sizeof(f));
	memcpy(regs.vector[1], &d, sizeof(d));
	memcpy(regs.vector[2], &nan, sizeof(nan));
	memcpy(regs.vector[3], &tiny, sizeof(tiny));
	regs.general[RDI] = (uint64_t)-3;
	regs.stack = BASE + 0x100;
	/* 1e4000, as the x87 has it. */
	memcpy(world + 0x108, "\x61\x8c\x55\xfe\x23\x83\xba\xd1\xe6\x73", 10);
	passes("a == 1.5 && a > 1 && a < 2 && a >= 1.5 && a != 1.25");
	passes("b == -2.25 && b < a && a > b && b < -2 && b > n");
	passes("-2.25 == b && 0.0 > b && 1e-300 > b");
	fails("c == c || c < 1 || c > 1 || c <= 1 || c >= 1");
	passes("c != c && !(c < 1)");
	passes("d > 0 && d < 1e-44 && d");
	passes("x > 1e308 && x > a");
	/* Its leading one is missing: no number. Then the smallest ones: with it, and without. */
	memcpy(world + 0x108, "\0\0\0\0\0\0\0\x40\xff\x3f", 10);
	fails("x > 0 || x < 1 || x == x");
	memcpy(world + 0x108, "\0\0\0\0\0\0\0\x80\0\0", 10);
	passes("x > 0 && x < 1e-320 && -1 < x");
	memcpy(world + 0x108, "\1\0\0\0\0\0\0\0\0\x80", 10);
	passes("x < 0 && x > -1e-320");
	expect("retval == -2.25 || retval != retval", VERDICT_OPEN, 0, VERDICT_FAILS);
}

/* ---- strings ------------------------------------------------------------- */

static void strings(void)
{
	by_hand("f(key:str, p:ptr, n:u64, buf:buf(n), out:out(ret), ret:int)");
	at_world(0x200, "user:42");
	at_world(0x300, "GET /index.html HTTP/1.1, and a text that is a lot longer than 64 bytes");
	at_world(0x400, "written");
	memset(world + SIZE - 4, 'x', 4);
	regs.general[RDI] = BASE + 0x200;
	regs.general[RSI] = BASE + 0x300;
	regs.general[RDX] = 4;
	regs.general[RCX] = BASE + 0x300;
	regs.general[R8] = BASE + 0x400;
	passes("str(key) == \"user:42\"");
	passes("key == \"user:42\" && \"user:42\" == key && key != \"user:4\" && key != \"user:422\"");
	fails("key == \"\" || key == \"user:43\" || key != \"user:42\"");
	passes("str(p, 3) == \"GET\" && str(p, 5) == \"GET /\" && str(p, 3) != \"GE\"");
	passes("str(p, n) == \"GET \" && str(p, n) != \"GET\"");
	fails("str(p) == \"GET\" || str(p, 3) == \"GET \"");
	passes("str(buf) == \"GET \"");
	passes("str(p) == \"GET /index.html HTTP/1.1, and a text that is a lot longer than 64 "
	       "bytes\"");
	passes("str(p) != \"GET /index.html HTTP/1.1, and a text that is a lot longer than 64 "
	       "byte\"");
	passes("str(p) != key");
	expect("str(out) == \"writ\"", VERDICT_OPEN, 4, VERDICT_PASSES);
	expect("str(out) == \"writ\" && n == 4", VERDICT_OPEN, 5, VERDICT_FAILS);
	expect("str(out) == \"\"", VERDICT_OPEN, (uint32_t)-1, VERDICT_FAILS);
	passes("key == \"user:42\" || str(p) == \"\\x41\\n\"");
	/* Both go on behind what is read. */
	regs.general[RDI] = BASE + 0x300;
	unknown("str(p) == key");
	regs.general[RDI] = 0;
	unknown("key == \"a\"");
	passes("!key && key == NULL");
	regs.general[RDI] = 8;
	unknown("key != \"a\"");
	passes("key != \"a\" || n == 4");
	regs.general[RDI] = BASE + SIZE - 4;
	unknown("key == \"xxxxx\"");
	passes("str(key, 2) == \"xx\"");
}

/* ---- errors -------------------------------------------------------------- */

static void errors(void)
{
	char lines[256];

	by_hand("f(fd:int, buf:str, n:u64, x:f64, p:ptr)");
	wrong("foo == 1", -ENOENT, 0, "no argument 'foo' (it has fd, buf, n, x, p)");
	wrong("fd == 1 && foo", -ENOENT, 11, "no argument 'foo' (it has fd, buf, n, x, p)");
	wrong("arg6", -ENOENT, 0, "no argument 'arg6' (it has fd, buf, n, x, p)");
	wrong("retval < 0", -ENOENT, 0, "no retval: it returns nothing");
	wrong("fd == \"a\"", -EINVAL, 3, "a string is compared with a number");
	wrong("p == \"a\"", -EINVAL, 0, "this is a pointer, and no string: write str(...)");
	wrong("buf < \"a\"", -EINVAL, 4, "strings are compared by == and != only");
	wrong("duration > 10", -EINVAL, 9,
	      "a time is compared with a number: times have a unit, as in 10ms");
	wrong("fd > 10ms", -EINVAL, 3,
	      "a time is compared with a number: times have a unit, as in 10ms");
	wrong("duration", -EINVAL, 0, "a time is no condition: compare it, as in duration > 10ms");
	wrong("x + 1 > 2", -EINVAL, 2, "floats are compared only");
	wrong("n < -1", -EINVAL, 2, "this is never below 0: its type has no sign");
	wrong("fd < 2147483648", -EINVAL, 3,
	      "the number is beyond its type, which has -2147483648 to 2147483647");
	wrong("-2147483649 == fd", -EINVAL, 12,
	      "the number is beyond its type, which has -2147483648 to 2147483647");
	wrong("fd == 4294967296", -EINVAL, 3,
	      "the number is beyond its type, which has -2147483648 to 2147483647");
	wrong("fd & 1 == 1", -EINVAL, 3,
	      "comparisons bind more than & | ^: put ( and ) around the numbers");
	wrong("1 < fd < 3", -EINVAL, 7, "comparisons are combined by && and ||, and not compared");
	wrong("fd = 1", -EINVAL, 3, "nothing is assigned: a comparison is ==");
	wrong("fd == 1 and n", -EINVAL, 10, "and, or and not are &&, || and !");
	wrong("", -EINVAL, 0, "a condition was expected");
	wrong("fd ==", -EINVAL, 5, "a value was expected, and the condition ends");
	wrong("(fd == 1", -EINVAL, 8, ") was expected, and the condition ends");
	wrong("fd == 1)", -EINVAL, 7, "an operator was expected, not ')'");
	wrong("fd == \"a", -EINVAL, 6, "the quote is not closed");
	wrong("2 in 10", -EINVAL, 0, "one call in so many: 1 in N");
	wrong("1 in 0", -EINVAL, 5, "one call in so many: a number above 0");
	wrong("fd.x", -ENOENT, 3, "no member 'x': it is no structure");
	wrong("fd->x", -ENOENT, 4, "no member 'x': it is no structure");
	wrong("*fd", -EINVAL, 0, "this is no pointer");
	wrong("fd == 1 / 0", -EINVAL, 8, "this has no result");
	wrong("fd / 0 == 1", -EINVAL, 3, "this has no result");
	wrong("fd >> 64 == 1", -EINVAL, 3, "this has no result");
	wrong("1 == 1", -EINVAL, 2, "both sides are written here: this is always the same");
	wrong("caller == \"foo\"", -EINVAL, 10, "no function 'foo' is known");
	wrong("caller == many", -ENOSPC, 10, "'many' is more than 16 functions, or parts of some");
	wrong("comm == \"0123456789abcdef\"", -EINVAL, 8,
	      "the name of a thread has at most 15 bytes");
	wrong("fd == 10x", -EINVAL, 8,
	      "'x' is no unit of time (ns, us, ms, s, m), nor does a number end so");
	const struct condition_error behind = { .column = 9 };

	CHECK_EQ(condition_error_text("l\xc3\xa4nge > foo", &behind, lines, sizeof(lines)),
		 (int)strlen(lines));
	MUST_STR(lines, "    l\xc3\xa4nge > foo\n            ^");
}

int main(void)
{
	numbers();
	names_of_arguments();
	of_facts();
	floats();
	strings();
	errors();
	signature_clear(&sig);
	return failures != 0;
}

/* SPDX-License-Identifier: MIT */
/* Are signatures read that are written by hand, and errors pointed at; and what do their plans
 * bring, and their texts say? */
#include <elf.h>
#include <errno.h>

#include "tests/unit/check.h"
#include "values/compile.h"
#include "values/hand.h"
#include "values/known.h"
#include "values/text.h"

static uint8_t world[4096];	/* memory at its own address */

static size_t read_world(void *ctx, uint64_t at, void *buf, size_t n)
{
	uint64_t from = (uintptr_t)world;

	if (at < from || at >= from + sizeof(world))
		return 0;
	n = MIN(n, from + sizeof(world) - at);
	memcpy(buf, world + (at - from), n);
	return n;
}

static void wrong(const char *text, size_t column)
{
	struct hand_error e;
	struct signature s;
	size_t name;

	if (hand_parse(text, EM_X86_64, &s, &name, &e) != -EINVAL || e.column != column) {
		failures++;
		fprintf(stderr, "%s: column %zu (%s), not %zu\n", text, e.column, e.what, column);
	}
}

static void errors(void)
{
	wrong("", 0);
	wrong("f", 1);
	wrong("f(", 2);
	wrong("(a:i32)", 7);
	wrong("f(a:i32)x", 8);
	wrong("f(a)", 3);
	wrong("f(a:)", 4);
	wrong("f(a:i33)", 4);
	wrong("f(a:i32", 7);
	wrong("f(a:i32 b:i32)", 8);
	wrong("f(a:i32,)", 8);
	wrong("f(a:buf)", 7);
	wrong("f(a:buf(n))", 8);
	wrong("f(a:buf(0))", 8);
	wrong("f(a:buf(9999))", 8);
	wrong("f(a:str(4)", 10);
	wrong("f(a:buf(ret))", 8);
	wrong("f(a:buf(*b/3), b:ptr)", 11);
	wrong("f(ret:int, ret:int)", 11);
	wrong("f(a:int, a:ptr)", 9);
	wrong("f(a:list(ret, i32), ret:int)", 9);
	wrong("f(arg2:int, arg1:int, arg2:int)", 22);
	wrong("f(arg40:int)", 2);
	wrong("f(a:void)", 4);
	wrong("f(..)", 2);
	wrong("f(a:ptr{)", 8);
	wrong("f(a:ptr{b:int})", 9);
	wrong("f(a:ptr{b@:int})", 10);
	wrong("f(a:ptr{b@x:int})", 10);
	wrong("f(a:ptr{b@61:int})", 10);
	wrong("f(a:ptr{b@8:buf})", 12);
	wrong("f(a:ptr{b@8:int, @16:int})", 25);
	wrong("f(a:ptr{b@8:int)", 15);
	wrong("f(a:ptr{b@0:chars})", 12);
	wrong("f(a:list)", 8);
	wrong("f(a:list(b, out), b:int)", 12);
	wrong("f(a:list(c, int))", 9);
	wrong("f(a:list(3, int)", 16);
}

/* What is printed if the registers are these. */
static void shows(const char *text, const struct reads_registers *entry, uint64_t result,
		  const char *want)
{
	struct compile_options o = { 0 };
	struct reads_memory m = { read_world, NULL };
	struct reads_registers exit = { .general[0] = result };
	static struct reads_state s;
	struct signature signature;
	struct read_plan p;
	struct hand_error e;
	struct capture c;
	char line[512];
	size_t name;

	MUST_EQ(hand_parse(text, EM_X86_64, &signature, &name, &e), 0);
	reads_compile(&signature, &o, &p);
	MUST_EQ(reads_check(&p), 0);
	memset(&s, 0, sizeof(s));
	reads_run(&p, false, entry, &m, &s);
	size_t n = s.used;

	reads_run(&p, true, &exit, &m, &s);
	MUST_EQ(capture_parse(&signature, &p, s.capture, n, s.capture + n, s.used - n, &c), 0);
	values_call(&c, "f", line, sizeof(line));
	if (strcmp(line, want) != 0) {
		failures++;
		fprintf(stderr, "%s: %s, not %s\n", text, line, want);
	}
	signature_clear(&signature);
}

static void texts(void)
{
	struct reads_registers r = { 0 };
	uint64_t at = (uintptr_t)world;
	char want[128];

	strcpy((char *)world, "hello, \"w\xc3\xb6rld\"\n");
	memcpy(world + 100, &(uint64_t){ 5 }, 8);
	r.general[5] = 7;		/* rdi, rsi, rdx, rcx */
	r.general[4] = at;
	r.general[1] = 4096;
	r.general[2] = at + 100;
	shows("f(fd:int, buf:out(ret), n:u64, ret:long)", &r, 5, "f(fd=7, buf=\"hello\", n=4096) = 5");
	snprintf(want, sizeof(want), "f(fd=7, buf=%#llx, n=4096) = -1", (unsigned long long)at);
	shows("f(fd:int, buf:out(ret), n:u64, ret:long)", &r, UINT64_MAX, want);
	shows("f(fd:int, s:str)", &r, 0, "f(fd=7, s=\"hello, \\\"w\xc3\xb6rld\\\"\\n\")");
	shows("f(arg2:str(4), ret:x32)", &r, 255, "f(arg2=\"hell\"...) = 0xff");
	shows("f(arg2:buf(6))", &r, 0, "f(arg2=\"hello,\")");
	snprintf(want, sizeof(want), "f(arg2=\"hello\", arg3=NULL, n=%#llx)",
		 (unsigned long long)at + 100);
	shows("f(arg2:out(*n), arg3:ptr, n:ptr)", &(struct reads_registers){ .general[4] = at,
	      .general[2] = at + 100 }, 0, want);
	shows("f(a:bool, b:ptr, c:o32, ...)", &(struct reads_registers){ .general[5] = 1,
	      .general[1] = 0644 }, 0, "f(a=true, b=NULL, c=0644, ...)");
	shows("f(a:str, ret:void)", &(struct reads_registers){ .general[5] = 16 }, 0,
	      "f(a=0x10 (unreadable))");
	r.general[1] = 6;
	shows("f(arg2:buf(arg3), arg3:u64)", &r, 0, "f(arg2=\"hello,\", arg3=6)");
	shows("ns::f(int, char)(a:int)", &r, 0, "f(a=7)");
}

/* Structures and lists: members in other structures, a length, NULL, and what is not there. */
static void structures(void)
{
	uint64_t at = (uintptr_t)world, *words = (uint64_t *)(world + 512);
	struct reads_registers r = { .general[5] = at + 512, .general[4] = 3 };
	char want[128];

	strcpy((char *)world, "key");
	strcpy((char *)world + 32, "value");
	words[0] = 42;
	words[1] = at;
	words[2] = at + 32;
	words[3] = at + 512;	/* itself */
	shows("f(a:ptr{n@0:int, s@8:str, t@0x10:str})", &r, 0,
	      "f(a={n=42, s=\"key\", t=\"value\"})");
	shows("f(a:ptr{@8:str})", &r, 0, "f(a=\"key\")");
	shows("f(a:ptr{@24:ptr{@24:ptr{n@0:u8, s@8:str}}})", &r, 0, "f(a={n=42, s=\"key\"})");
	shows("f(a:ptr{c@8:ptr{t@0:chars(2)}})", &r, 0, "f(a={c={t=\"ke\"}})");
	snprintf(want, sizeof(want), "f(a=%#llx{n=42})", (unsigned long long)at + 512);
	shows("f(a:addr{n@0:int})", &r, 0, want);
	shows("f(a:ptr{@8:str})", &(struct reads_registers){ 0 }, 0, "f(a=NULL)");
	shows("f(a:ptr{@8:str})", &(struct reads_registers){ .general[5] = 16 }, 0,
	      "f(a=0x10 (unreadable))");
	words[8] = at + 520;	/* structures whose first member is a text */
	words[9] = at + 528;
	words[10] = 8;
	r.general[5] = at + 576;
	r.general[4] = 2;
	shows("f(a:list(n, ptr{@0:str}), n:int)", &r, 0, "f(a=[\"key\", \"value\"], n=2)");
	r.general[4] = 3;
	shows("f(a:list(n, ptr{@0:str}), n:int)", &r, 0,
	      "f(a=[\"key\", \"value\", 0x8 (unreadable)], n=3)");
	r.general[4] = 0;
	shows("f(a:list(n, ptr{@0:str}), n:int)", &r, 0, "f(a=[], n=0)");
	r.general[5] = at + 512;
	shows("f(a:list(2, u8))", &r, 0, "f(a=[42, 0])");
	words[1] = 43;
	shows("f(a:list(2, u64))", &r, 0, "f(a=[42, 43])");
}

static void tables(void)
{
	struct signature s;
	const char *bad = known_wrong(EM_X86_64);

	if (bad)
		fprintf(stderr, "%s\n", bad);
	MUST(!bad && !known_wrong(EM_AARCH64));
	printf("%zu functions are known\n", known_count());
	MUST_EQ(known_find("libc.so.6", "read", EM_X86_64, &s), 0);
	CHECK_EQ(s.nparams, 3);
	signature_clear(&s);
	MUST_EQ(known_find("libsqlite3.so.0.8.6", "sqlite3_step", EM_X86_64, &s), 0);
	signature_clear(&s);
	CHECK_EQ(known_find("libc.so.6", "readx", EM_X86_64, &s), -ENOENT);
	CHECK_EQ(known_find("libfoo.so", "read", EM_X86_64, &s), -ENOENT);
}

int main(void)
{
	errors();
	texts();
	structures();
	tables();
	return failures != 0;
}

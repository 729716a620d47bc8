/* SPDX-License-Identifier: MIT */
/*
 * places: functions in the middle of which everything is alive: what is below the stack pointer,
 * each flag, each register, vector and x87 registers; and, on arm64, exclusive accesses.
 *
 * Command "check N" -> checked N: each function is called N times by two threads together, and
 * has to return what it did before any probe was there; but for then, and between "spin" -> spin
 * and "still" -> still, none is called. Those that begin with pl_line go straight from their
 * first instruction to their last.
 */
#include <pthread.h>

#include "tests/victims/victim.h"

#ifdef __x86_64__
/* A leaf keeps sixteen words below its stack pointer. */
__asm__(
"	.text\n"
"	.globl pl_line_zone\n	.type pl_line_zone, @function\n	.p2align 4\n"
"pl_line_zone:\n"
"	.cfi_startproc\n"
"	mov %rdi, %rax\n"
"	.set i, 1\n"
"	.rept 16\n"
"	lea 7(%rax,%rax,2), %rax\n"
"	mov %rax, -8*i(%rsp)\n"
"	.set i, i + 1\n"
"	.endr\n"
"	.set i, 1\n"
"	.rept 16\n"
"	rol $3, %rax\n"
"	xor -8*i(%rsp), %rax\n"
"	.set i, i + 1\n"
"	.endr\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size pl_line_zone, . - pl_line_zone\n"
/* Carry, overflow and the rest live through instructions that change none; so does the
 * direction, and every general register. */
"	.globl pl_line_flags\n	.type pl_line_flags, @function\n	.p2align 4\n"
"pl_line_flags:\n"
"	.cfi_startproc\n"
"	mov %rdi, %rax\n"
"	mov $0x7fffffff, %ecx\n"
"	mov %edi, %edx\n"
"	shl $24, %edx\n"
"	add %edx, %ecx\n"
"	mov %rdi, %r8\n"
"	lea 5(%r8), %r9\n"
"	seto %r10b\n"
"	setc %r11b\n"
"	nop\n"
"	sets %sil\n"
"	.byte 0x0f, 0x1f, 0x00\n"
"	setp %dl\n"
"	adc %r9, %rax\n"
"	nop\n"
"	nop\n"
"	sbb %r8, %rcx\n"
"	movzbl %r10b, %r10d\n"
"	movzbl %r11b, %r11d\n"
"	movzbl %sil, %esi\n"
"	movzbl %dl, %edx\n"
"	lea (%r10,%r11,2), %r10\n"
"	lea (%r10,%rsi,4), %r10\n"
"	lea (%r10,%rdx,8), %r10\n"
"	xor %r10, %rax\n"
"	add %rcx, %rax\n"
"	std\n"
"	lea (%rax,%rax,4), %rax\n"
"	mov %rax, %rsi\n"
"	pushfq\n	.cfi_adjust_cfa_offset 8\n"
"	cld\n"
"	pop %rdx\n	.cfi_adjust_cfa_offset -8\n"
"	and $0x400, %edx\n"
"	add %rdx, %rax\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size pl_line_flags, . - pl_line_flags\n"
/* All of SSE's registers, and two of the x87's. */
"	.globl pl_line_vector\n	.type pl_line_vector, @function\n	.p2align 4\n"
"pl_line_vector:\n"
"	.cfi_startproc\n"
"	movq %rdi, %xmm0\n"
"	pshufd $0x44, %xmm0, %xmm0\n"
"	.irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
"	pcmpeqd %xmm\\n, %xmm\\n\n"
"	psrlq $\\n, %xmm\\n\n"
"	paddq %xmm0, %xmm\\n\n"
"	.endr\n"
"	mov %rdi, -8(%rsp)\n"
"	fildll -8(%rsp)\n"
"	fld1\n"
"	.irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
"	psllq $1, %xmm0\n"
"	pxor %xmm\\n, %xmm0\n"
"	.endr\n"
"	faddp\n"
"	fistpll -8(%rsp)\n"
"	movq %xmm0, %rax\n"
"	psrldq $8, %xmm0\n"
"	movq %xmm0, %rdx\n"
"	add %rdx, %rax\n"
"	add -8(%rsp), %rax\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size pl_line_vector, . - pl_line_vector\n");

long pl_line_zone(long), pl_line_flags(long), pl_line_vector(long);
#elif defined(__aarch64__)
/* A frame of sixteen words, by the stack pointer; the return address is in x30. */
__asm__(
"	.text\n"
"	.globl pl_line_zone\n	.type pl_line_zone, %function\n	.p2align 4\n"
"pl_line_zone:\n"
"	.cfi_startproc\n"
"	add x0, x0, x0, lsl #1\n"
"	sub sp, sp, #128\n	.cfi_def_cfa_offset 128\n"
"	.set i, 0\n"
"	.rept 16\n"
"	add x0, x0, #7\n"
"	str x0, [sp, #8*i]\n"
"	.set i, i + 1\n"
"	.endr\n"
"	.set i, 0\n"
"	.rept 16\n"
"	ldr x1, [sp, #8*i]\n"
"	eor x0, x1, x0, ror #3\n"
"	.set i, i + 1\n"
"	.endr\n"
"	add sp, sp, #128\n	.cfi_def_cfa_offset 0\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size pl_line_zone, . - pl_line_zone\n"
/* All flags live through instructions that change none, and so does every general register. */
"	.globl pl_line_flags\n	.type pl_line_flags, %function\n	.p2align 4\n"
"pl_line_flags:\n"
"	.cfi_startproc\n"
"	stp x29, x30, [sp, #-96]!\n"
"	.cfi_def_cfa_offset 96\n	.cfi_offset 29, -96\n	.cfi_offset 30, -88\n"
"	stp x19, x20, [sp, #16]\n	.cfi_offset 19, -80\n	.cfi_offset 20, -72\n"
"	stp x21, x22, [sp, #32]\n	.cfi_offset 21, -64\n	.cfi_offset 22, -56\n"
"	stp x23, x24, [sp, #48]\n	.cfi_offset 23, -48\n	.cfi_offset 24, -40\n"
"	stp x25, x26, [sp, #64]\n	.cfi_offset 25, -32\n	.cfi_offset 26, -24\n"
"	stp x27, x28, [sp, #80]\n	.cfi_offset 27, -16\n	.cfi_offset 28, -8\n"
"	mov w1, #0x7fffffff\n"
"	adds w1, w1, w0, lsl #24\n"
"	.irp r, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30\n"
"	add x\\r, x0, #\\r\n"
"	.endr\n"
"	.irp r, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30\n"
"	eor x0, x\\r, x0, ror #7\n"
"	.endr\n"
"	cinc x0, x0, mi\n"
"	add x0, x0, x0, lsl #2\n"
"	cinc x0, x0, eq\n"
"	add x0, x0, x0, lsl #2\n"
"	cinc x0, x0, vs\n"
"	adc x0, x0, x0\n"
"	ldp x27, x28, [sp, #80]\n	.cfi_restore 27\n	.cfi_restore 28\n"
"	ldp x25, x26, [sp, #64]\n	.cfi_restore 25\n	.cfi_restore 26\n"
"	ldp x23, x24, [sp, #48]\n	.cfi_restore 23\n	.cfi_restore 24\n"
"	ldp x21, x22, [sp, #32]\n	.cfi_restore 21\n	.cfi_restore 22\n"
"	ldp x19, x20, [sp, #16]\n	.cfi_restore 19\n	.cfi_restore 20\n"
"	ldp x29, x30, [sp], #96\n"
"	.cfi_def_cfa_offset 0\n	.cfi_restore 29\n	.cfi_restore 30\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size pl_line_flags, . - pl_line_flags\n"
/* All vector registers, both halves. */
"	.globl pl_line_vector\n	.type pl_line_vector, %function\n	.p2align 4\n"
"pl_line_vector:\n"
"	.cfi_startproc\n"
"	stp d8, d9, [sp, #-64]!\n	.cfi_def_cfa_offset 64\n"
"	stp d10, d11, [sp, #16]\n"
"	stp d12, d13, [sp, #32]\n"
"	stp d14, d15, [sp, #48]\n"
"	dup v0.2d, x0\n"
"	mov v0.s[3], w0\n"
"	.irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
"	movi v\\n\\().16b, #\\n\n"
"	add v\\n\\().2d, v\\n\\().2d, v0.2d\n"
"	.endr\n"
"	.irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
"	shl v0.2d, v0.2d, #1\n"
"	eor v0.16b, v0.16b, v\\n\\().16b\n"
"	.endr\n"
"	mov x0, v0.d[0]\n"
"	mov x1, v0.d[1]\n"
"	eor x0, x0, x1, ror #9\n"
"	ldp d14, d15, [sp, #48]\n"
"	ldp d12, d13, [sp, #32]\n"
"	ldp d10, d11, [sp, #16]\n"
"	ldp d8, d9, [sp], #64\n	.cfi_def_cfa_offset 0\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size pl_line_vector, . - pl_line_vector\n"
/* Three times, no record may be made between a load and its store: a sum, an exchange that is made,
 * and one that is given up. */
"	.globl pl_exclusive\n	.type pl_exclusive, %function\n	.p2align 4\n"
"pl_exclusive:\n"
"	.cfi_startproc\n"
"	sub sp, sp, #16\n	.cfi_def_cfa_offset 16\n"
"	str x0, [sp]\n"
"	mov x3, sp\n"
"1:	ldaxr x1, [x3]\n"
"	add x1, x1, #3\n"
"	stlxr w2, x1, [x3]\n"
"	cbnz w2, 1b\n"
"	add x4, x1, #1\n"
"2:	ldxr x0, [x3]\n"
"	cmp x0, x1\n"
"	b.ne 3f\n"
"	stxr w2, x4, [x3]\n"
"	cbnz w2, 2b\n"
"	b 2b\n"
"3:	clrex\n"
"	add x0, x0, x1, lsl #1\n"
"	add sp, sp, #16\n	.cfi_def_cfa_offset 0\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size pl_exclusive, . - pl_exclusive\n");

long pl_line_zone(long), pl_line_flags(long), pl_line_vector(long);
#endif

#ifdef __aarch64__
long pl_exclusive(long);
#else
PROBED long pl_exclusive(long x)
{
	return __atomic_add_fetch(&x, 3, __ATOMIC_SEQ_CST);
}
#endif

static volatile long seen;

PROBED long pl_small(long x)
{
	seen = x;
	return x * 3;
}

PROBED long pl_switch(long x)
{
	switch (x & 15) {
	case 0: return pl_small(x);
	case 1: return x << 3;
	case 2: return pl_small(x) + pl_small(x + 1);
	case 3: return ~x;
	case 4: return x * x;
	case 5: return x % 7;
	case 6: return (long)((double)x * 0.75);
	case 7: return x - 1;
	default: return x ^ (x >> 2);
	}
}

PROBED long pl_loop(long x)
{
	long sum = 0, n = x & 31, by = x & 0xff;

	for (long i = 0; i < n; i++) {
		sum += i * by;
		if (sum & 1)
			sum ^= 0x55;
		while (sum > 1000)
			sum -= 997;
	}
	return sum;
}

PROBED double pl_float(long x)
{
	double a[8], sum = 0;

	for (int i = 0; i < 8; i++)
		a[i] = (double)x / (i + 1) + i;
	for (int i = 0; i < 8; i++)
		sum += a[i] * a[7 - i];
	return sum;
}

PROBED long pl_deep(long x)
{
	return x < 2 ? 1 : pl_deep(x - 1) + pl_deep(x - 2);
}

static long pl_floats(long x)
{
	return (long)(pl_float(x) * 1000);
}

static long pl_calls(long x)
{
	return pl_deep(x % 8);
}

enum { INPUTS = 256, THREADS = 2 };

static const struct {
	const char *name;
	long (*f)(long);
} funcs[] = {
	{ "zone", pl_line_zone }, { "flags", pl_line_flags }, { "vector", pl_line_vector },
	{ "exclusive", pl_exclusive }, { "switch", pl_switch }, { "loop", pl_loop }, { "float", pl_floats }, { "deep", pl_calls },
};

enum { FUNCS = sizeof(funcs) / sizeof(*funcs) };

static long wanted[FUNCS][INPUTS];

static long input(unsigned int i)
{
	return (long)(i * 0x9e3779b97f4a7c15ull >> (i % 40));
}

static void call_all(unsigned int i)
{
	for (unsigned int k = 0; k < FUNCS; k++) {
		long got = funcs[k].f(input(i % INPUTS));

		if (got != wanted[k][i % INPUTS])
			victim_wrong("%s of %u: %lx, not %lx", funcs[k].name, i % INPUTS, got,
				     wanted[k][i % INPUTS]);
		victim_count();
	}
}

static void *run(void *arg)
{
	unsigned int n = *(const unsigned int *)arg;

	for (unsigned int i = 0; i < n; i++)
		call_all(i);
	return NULL;
}

static void check(unsigned int n)
{
	unsigned int each = n / THREADS;
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, run, &each))
			_exit(3);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	victim_say("checked %u", each * THREADS);
}

static bool spinning;
static pthread_t spinners[THREADS];

static void *spin(void *arg)
{
	for (unsigned int i = 0; __atomic_load_n(&spinning, __ATOMIC_RELAXED); i++)
		call_all(i);
	return arg;
}

static void each(const char *command)
{
	if (strncmp(command, "check ", 6) == 0) {
		check((unsigned int)atoi(command + 6));
		return;
	}
	__atomic_store_n(&spinning, strcmp(command, "spin") == 0, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		if (spinning ? pthread_create(&spinners[i], NULL, spin, NULL) :
		    pthread_join(spinners[i], NULL))
			_exit(3);
	victim_say("%s", command);
}

int main(void)
{
	for (unsigned int k = 0; k < FUNCS; k++)
		for (unsigned int i = 0; i < INPUTS; i++)
			wanted[k][i] = funcs[k].f(input(i));
	victim_say("ready");
	while (victim_poll(50, each))
		victim_count();
	return victim_errors != 0;
}

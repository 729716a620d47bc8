/* SPDX-License-Identifier: MIT */
/* conventions_x86_64: vectors of AVX and AVX-512, and masks. */
#ifndef TESTS_VICTIMS_CONVENTIONS_X86_64_H
#define TESTS_VICTIMS_CONVENTIONS_X86_64_H

typedef double vector4 __attribute__((vector_size(32)));
typedef double vector8 __attribute__((vector_size(64)));

__attribute__((target("avx"))) PROBED vector4 conv_avx(vector4 a, vector4 b)
{
	return a * b + a;
}

/* More than there are registers for: the last two are on the stack, aligned. Where
 * `which` has no bit, the result is that of the caller's second. */
__attribute__((target("avx512f"))) PROBED vector8
conv_avx512(vector8 a, vector8 b, vector8 c, vector8 d, vector8 e, vector8 f, vector8 g,
	    vector8 h, unsigned char which, vector8 i, vector8 j)
{
	vector8 sum = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;

	asm("kmovw %1, %%k1; vmovapd %2, %0 %{%%k1%}"
	    : "+v"(b) : "r"((unsigned int)which), "v"(sum) : "k1");
	return b;
}

/* Changes nothing, and its callers know. */
void conv_nothing(void);
asm(".text\n.globl conv_nothing\n.type conv_nothing, @function\n.p2align 4\n"
    "conv_nothing:\n	.cfi_startproc\n	endbr64\n	nopl 0(%rax)\n	ret\n"
    "	.cfi_endproc\n.size conv_nothing, .-conv_nothing\n");

__attribute__((target("avx"))) static void check_avx(int n)
{
	vector4 a = { n, n + 1, n + 2, n + 3 }, b = { 2, 3, 4, 5 };
	vector4 c = conv_avx(a, b);

	for (int i = 0; i < 4; i++)
		if (c[i] != a[i] * b[i] + a[i])
			victim_wrong("conv_avx");
}

/* What a function does not touch its callers may count on, if they are compiled with
 * it: here a mask and a vector that only this processor has. */
__attribute__((target("avx512f"))) static void check_masks(uint64_t n)
{
	uint64_t mask, vector, in = n * 0x9e3779b97f4a7c15;

	asm volatile("kmovw %k[in], %%k7; vpbroadcastq %[in], %%zmm31\n\t"
		     "add $-128, %%rsp; call conv_nothing; sub $-128, %%rsp\n\t"
		     "kmovw %%k7, %k[mask]; vmovq %%xmm31, %[vector]"
		     : [mask] "=&r"(mask), [vector] "=&r"(vector) : [in] "r"(in)
		     : "k7", "xmm31", "memory");
	if ((uint16_t)mask != (uint16_t)in || vector != in)
		victim_wrong("conv_nothing");
}

__attribute__((target("avx512f"))) static void check_avx512(int n)
{
	vector8 v = { n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7 }, b = v + 1;
	unsigned char which = (unsigned char)n;
	vector8 c = conv_avx512(v, b, v, v, v, v, v, v, which, v, v);

	for (int i = 0; i < 8; i++)
		if (c[i] != (which >> i & 1 ? 55 * v[i] + 2 : b[i]))
			victim_wrong("conv_avx512");
	check_masks((uint64_t)n);
}

static void check_vectors(int n)
{
	if (__builtin_cpu_supports("avx"))
		check_avx(n);
	if (__builtin_cpu_supports("avx512f"))
		check_avx512(n);
}

#endif

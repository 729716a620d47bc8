/* SPDX-License-Identifier: MIT */
/* conventions_arm64: vectors of Advanced SIMD and of SVE, and predicates. */
#ifndef TESTS_VICTIMS_CONVENTIONS_ARM64_H
#define TESTS_VICTIMS_CONVENTIONS_ARM64_H

#include <arm_neon.h>
#include <arm_sve.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>

struct four {
	float64x2_t v[4];
};

/* One in four vector registers, which is also the result's place; one beside them, kept whole
 * where a plain convention keeps the lower halves. */
__attribute__((aarch64_vector_pcs)) PROBED struct four conv_neon(struct four a, float64x2_t b)
{
	for (int i = 0; i < 4; i++)
		a.v[i] = a.v[i] * b + a.v[i];
	return a;
}

/* More than there are registers for: the last two are in memory. Where `which` is false, the
 * result is the second. */
__attribute__((target("+sve"))) PROBED svfloat64_t
conv_sve(svbool_t which, svfloat64_t a, svfloat64_t b, svfloat64_t c, svfloat64_t d,
	 svfloat64_t e, svfloat64_t f, svfloat64_t g, svfloat64_t h, svfloat64_t i, svfloat64_t j)
{
	svbool_t all = svptrue_b64();
	svfloat64_t sum = svmla_x(all, a, b, 2.0);

	sum = svmla_x(all, sum, c, 3.0);
	sum = svmla_x(all, sum, d, 4.0);
	sum = svmla_x(all, sum, e, 5.0);
	sum = svmla_x(all, sum, f, 6.0);
	sum = svmla_x(all, sum, g, 7.0);
	sum = svmla_x(all, sum, h, 8.0);
	sum = svmla_x(all, sum, i, 9.0);
	sum = svmla_x(all, sum, j, 10.0);
	return svsel(which, sum, b);
}

/* Changes nothing, and its callers know. */
void conv_nothing(void);
__asm__(".text\n.globl conv_nothing\n.type conv_nothing, %function\n.p2align 4\n"
	"conv_nothing:\n	.cfi_startproc\n	hint #34\n	nop\n	nop\n	ret\n"
	"	.cfi_endproc\n.size conv_nothing, .-conv_nothing\n");

static void check_neon(int n)
{
	struct four a;
	float64x2_t b = { 2, n };

	for (int i = 0; i < 4; i++)
		a.v[i] = (float64x2_t){ n + i, n - i };
	struct four c = conv_neon(a, b);
	for (int i = 0; i < 4; i++)
		if (c.v[i][0] != (n + i) * 3 || c.v[i][1] != (n - i) * (n + 1.0))
			victim_wrong("conv_neon");
}

/* What a function does not touch its callers may count on, if they are compiled with
 * it: here a predicate and a vector that only this processor has. */
__attribute__((target("+sve"))) static void check_predicates(uint64_t n)
{
	uint64_t mask, vector, in = n * 0x9e3779b97f4a7c15, pair[2] = { in, ~in };
	uint8_t before[32] = { 0 }, after[32] = { 1 };

	__asm__ volatile("dup z31.d, %[in]\n\t"
			 "ptrue p0.b\n\t"
			 "ld1rqd z30.d, p0/z, [%[pair]]\n\t"
			 "cmphi p15.b, p0/z, z30.b, z31.b\n\t"
			 "str p15, [%[before]]\n\t"
			 "bl conv_nothing\n\t"
			 "str p15, [%[after]]\n\t"
			 "ptrue p0.b\n\t"
			 "umaxv d30, p0, z31.d\n\t"
			 "uminv d31, p0, z31.d\n\t"
			 "fmov %[vector], d30\n\t"
			 "fmov %[mask], d31"
			 : [mask] "=&r"(mask), [vector] "=&r"(vector)
			 : [in] "r"(in), [pair] "r"(pair), [before] "r"(before), [after] "r"(after)
			 : "p0", "p15", "z30", "z31", "x16", "x17", "x30", "cc", "memory");
	before[31] = after[31] = 0;
	if (mask != in || vector != in || memcmp(before, after, svcntb() / 8) != 0)
		victim_wrong("conv_nothing");
}

__attribute__((target("+sve"))) static void check_sve(int n)
{
	svbool_t all = svptrue_b64();
	svfloat64_t v = svcvt_f64_x(all, svindex_s64(n, 1)), b = svadd_x(all, v, 1.0);
	svbool_t which = svcmplt(all, svindex_s64(0, 1), (int64_t)(n % 9));
	svfloat64_t c = conv_sve(which, v, b, v, v, v, v, v, v, v, v);
	svfloat64_t want = svsel(which, svadd_x(all, svmul_x(all, v, 55.0), 2.0), b);

	if (svptest_any(all, svcmpne(all, c, want)))
		victim_wrong("conv_sve");
	check_predicates((uint64_t)n);
}

static void check_vectors(int n)
{
	check_neon(n);
	if (getauxval(AT_HWCAP) & HWCAP_SVE)
		check_sve(n);
}

#endif

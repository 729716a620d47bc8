/* SPDX-License-Identifier: MIT */
/*
 * Which addresses can a jump lead to of which some bytes are given? The answers
 * of plan/choose/pun.c against those of counting, and against the decoder.
 */
#include "plan/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/check.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	return random_state ^= random_state << 17;
}

static bool has(const struct jump_set *s, raddr_t a)
{
	int64_t d = (int64_t)(a - s->base);

	return d >= INT32_MIN && d <= INT32_MAX && ((uint32_t)d & s->mask) == s->value;
}

/* From `from` on, `n` addresses one by one: the first of the set is the one. */
static void count_on(const struct jump_set *s, raddr_t from, size_t n)
{
	raddr_t at = 0, want = from;
	bool found = jump_set_next(s, from, &at);

	while (want < from + n && !has(s, want))
		want++;
	CHECK(want < from + n ? found && at == want : !found || at >= from + n);
	CHECK(!found || (has(s, at) && jump_set_has(s, at)));
}

static void counting(void)
{
	for (int i = 0; i < 20000; i++) {
		struct jump_set s = { .base = 0x555555555000 + next_random() % 4096 };

		for (int byte = 0; byte < 4; byte++)
			if (next_random() % 3)
				s.mask |= 0xffu << 8 * byte;
		s.value = (uint32_t)next_random() & s.mask;
		/* around a member, where a carry may run */
		raddr_t d = (s.value | ((uint32_t)next_random() & ~s.mask)) - next_random() % 600;

		count_on(&s, s.base + (raddr_t)(int64_t)(int32_t)d, 700);
		CHECK(jump_set_has(&s, s.base + (raddr_t)(int64_t)(int32_t)d) ==
		      has(&s, s.base + (raddr_t)(int64_t)(int32_t)d));
	}
}

static void ends(void)
{
	const raddr_t base = 0x400000, far = 1ull << 31;
	struct jump_set all = { .base = base }, one = { base, UINT32_MAX, 0x12345678 };
	struct jump_set below = { base, 0xff000000, 0xe9000000 };
	raddr_t at;

	CHECK(jump_set_next(&all, base - far - 100, &at) && at == base - far);
	CHECK(jump_set_next(&all, base + far - 1, &at) && at == base + far - 1);
	CHECK(!jump_set_next(&all, base + far, &at));
	CHECK(jump_set_next(&one, base, &at) && at == base + 0x12345678);
	CHECK(jump_set_next(&one, at, &at) && at == base + 0x12345678);
	CHECK(!jump_set_next(&one, at + 1, &at));
	CHECK(jump_set_next(&below, base - far, &at) && at == base - 0x17000000);
	CHECK(!jump_set_next(&below, 1 << 16, &at));	/* it is all below zero */
	CHECK(!jump_set_has(&all, base + far) && !jump_set_has(&all, base - far - 1));
	CHECK(jump_set_has(&all, base - far));
}

/* The jump that has the given bytes is the one that leads there. */
static void agrees_with_the_decoder(void)
{
	const struct arch *arch = &arch_x86_64;
	const raddr_t from = 0x7f0000001000;

	for (int i = 0; i < 20000; i++) {
		size_t prefix = next_random() % 3, size = prefix + 5, room = 1 + prefix;
		uint8_t p[8], out[ARCH_JUMP_MAX];
		struct jump_set s;
		struct insn in;
		raddr_t at;

		room += next_random() % (size - room);
		for (size_t k = 0; k < size; k++)
			p[k] = (uint8_t)next_random();
		CHECK(!arch->pun_set(from, prefix, p, (uint16_t)(0xff << room), &s));
		CHECK(jump_set_next(&s, from - 0x80000000u, &at));
		CHECK(arch->pun(from, prefix, at, out) == (int)size);
		CHECK(!memcmp(out + room, p + room, size - room));
		CHECK(!arch->decode(out, size, from, &in) && in.kind == INSN_JUMP &&
		      in.size == size && in.dest == at);
	}
}

static void given_at_the_start(void)
{
	const uint8_t jump[] = { 0xe9, 1, 2, 3, 4, 5, 6 };
	struct jump_set s;

	CHECK(!arch_x86_64.pun_set(0, 0, jump, 0x3, &s) && s.mask == 0xff && s.value == 1);
	CHECK(arch_x86_64.pun_set(0, 1, jump, 0x1, &s) == -ENOTSUP);
	CHECK(arch_x86_64.pun_set(0, 3, jump, 0, &s) == -ENOTSUP);
	CHECK(!arch_arm64.pun_set);
}

int main(void)
{
	counting();
	ends();
	agrees_with_the_decoder();
	given_at_the_start();
	return failures != 0;
}

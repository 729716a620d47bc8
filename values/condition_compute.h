/* SPDX-License-Identifier: MIT */
/* condition_compute: what do two numbers of 64 bits make? In the payload, and of literals. */
#ifndef VALUES_CONDITION_COMPUTE_H
#define VALUES_CONDITION_COMPUTE_H

#include "values/condition.h"

/* Is there no such result in C? */
static inline bool condition_undefined(uint8_t code, uint64_t a, uint64_t b, bool is_signed)
{
	switch (code) {
	case CONDITION_DIV:
	case CONDITION_MOD:
		return !b || (is_signed && a == 1ull << 63 && b == UINT64_MAX);
	case CONDITION_SHL:
	case CONDITION_SHR:
		return b >= 64;
	default:
		return false;
	}
}

/* CONDITION_ADD ... CONDITION_SHR, where they have a result. */
static inline uint64_t condition_compute(uint8_t code, uint64_t a, uint64_t b, bool is_signed)
{
	switch (code) {
	case CONDITION_ADD:
		return a + b;
	case CONDITION_SUB:
		return a - b;
	case CONDITION_MUL:
		return a * b;
	case CONDITION_DIV:
		return is_signed ? (uint64_t)((int64_t)a / (int64_t)b) : a / b;
	case CONDITION_MOD:
		return is_signed ? (uint64_t)((int64_t)a % (int64_t)b) : a % b;
	case CONDITION_AND:
		return a & b;
	case CONDITION_OR:
		return a | b;
	case CONDITION_XOR:
		return a ^ b;
	case CONDITION_SHL:
		return a << b;
	default:
		return is_signed ? (uint64_t)((int64_t)a >> b) : a >> b;
	}
}

#endif

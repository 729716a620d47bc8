/* SPDX-License-Identifier: MIT */
/* print_scalar: numbers, names of enumerators, floats of each format. */
#include "values/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t low_word(const uint8_t *bytes, uint64_t size)
{
	uint64_t v = 0;

	memcpy(&v, bytes, MIN(size, sizeof(v)));
	return v;
}

static int64_t extend(uint64_t v, uint64_t size)
{
	unsigned int shift = size >= 8 ? 0 : 64 - 8 * (unsigned int)size;

	return (int64_t)(v << shift) >> shift;
}

/* ---- floats -------------------------------------------------------------- */

/* 2^exponent * mantissa, without libm. */
static double scale(double mantissa, int exponent)
{
	for (; exponent > 0 && exponent < 20000; exponent--)
		mantissa *= 2;
	for (; exponent < 0 && exponent > -20000; exponent++)
		mantissa /= 2;
	return mantissa;
}

/* Of the format that has its exponent in 15 bits: the x87's, and that of 128 bits. */
static double wide_float(uint16_t head, uint64_t high, uint64_t low, bool whole_bit)
{
	int exponent = head & 0x7fff;
	double sign = head & 0x8000 ? -1 : 1, mantissa;

	if (exponent == 0x7fff)
		return (whole_bit ? high << 1 : high << 16 | low) ? sign * NAN : sign * INFINITY;
	if (!exponent && !high && !low)
		return sign * 0.0;
	mantissa = whole_bit ? scale((double)high, -63) :
		(exponent ? 1 : 0) + scale((double)high, -48) + scale((double)low, -112);
	return sign * scale(mantissa, MAX(exponent, 1) - 16383);
}

/* IEEE 754's of 16 bits. */
static double half_float(uint16_t v)
{
	int exponent = v >> 10 & 0x1f, mantissa = v & 0x3ff;
	double sign = v & 0x8000 ? -1 : 1;

	if (exponent == 0x1f)
		return mantissa ? sign * NAN : sign * INFINITY;
	return sign * scale(mantissa + (exponent ? 1024 : 0), MAX(exponent, 1) - 25);
}

double float_value(const uint8_t *bytes, uint64_t size, unsigned int flags)
{
	uint64_t low = low_word(bytes, 8), high = 0;
	double d;
	float f;

	if (size > 8)
		memcpy(&high, bytes + 8, size >= 16 ? 8 : 2);
	switch (size) {
	case 2:
		return half_float((uint16_t)low);
	case 4:
		memcpy(&f, bytes, sizeof(f));
		return f;
	case 8:
		memcpy(&d, bytes, sizeof(d));
		return d;
	default:
		return flags & TYPE_QUAD ?
			wide_float((uint16_t)(high >> 48), high & 0xffffffffffff, low, false) :
			wide_float((uint16_t)high, low, 0, true);
	}
}

/* By as few digits as tell it from any other of its size, but six if that is less: so what is shown
 * can be asked for, and two values are never shown as one. What is below 10^16 has no exponent.
 * (What is wider than a double is shown as one.) */
void print_float(struct line *t, const uint8_t *bytes, uint64_t size, unsigned int flags)
{
	const int most = size == 2 ? 6 : size == 4 ? 9 : 17;
	double v = float_value(bytes, size, flags);
	int digits = 6, whole;
	char text[40], *power;

	for (; digits <= most; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (size == 4 ? strtof(text, NULL) == (float)v : strtod(text, NULL) == v)
			break;
	}
	power = strstr(text, "e+");
	whole = power ? atoi(power + 2) + 1 : 0;
	if (whole > 0 && whole <= 16)
		snprintf(text, sizeof(text), "%.*g", MAX(digits, whole), v);
	line_add(t, "%s", text);
}

/* ---- integers ------------------------------------------------------------ */

static void print_wide(struct line *t, const struct type *type, const uint8_t *bytes)
{
	unsigned __int128 v;
	char digits[48], *p = digits + sizeof(digits) - 1;
	bool negative;

	memcpy(&v, bytes, sizeof(v));
	negative = type->flags & TYPE_SIGNED && (__int128)v < 0;
	if (negative)
		v = -v;
	*p = '\0';
	do {
		*--p = (char)('0' + (int)(v % 10));
		v /= 10;
	} while (v);
	line_add(t, "%s%s", negative ? "-" : "", p);
}

static void print_int(struct line *t, const struct type *type, const uint8_t *bytes)
{
	uint64_t v = low_word(bytes, type->size);

	if (type->size == 16)
		print_wide(t, type, bytes);
	else if (type->flags & TYPE_HEX)
		line_add(t, v ? "%#llx" : "%llu", (unsigned long long)v);
	else if (type->flags & TYPE_OCTAL)
		line_add(t, "%#llo", (unsigned long long)v);
	else if (type->flags & TYPE_SIGNED)
		line_add(t, "%lld", (long long)extend(v, type->size));
	else
		line_add(t, "%llu", (unsigned long long)v);
}

/* ---- enumerations -------------------------------------------------------- */

/* Each enumerator has one bit, as far as they are used: A|B. */
static bool print_bits(struct line *t, const struct signature *s, const struct type *type,
		       uint64_t v)
{
	struct line before = *t;
	const char *bar = "";

	for (uint32_t i = 0; i < type->n && v; i++) {
		const struct enumerator *e = signature_enumerator_at(s, type, i);
		uint64_t bit = e ? (uint64_t)e->value : 0;

		if (!bit || bit & (bit - 1) || !(v & bit))
			continue;
		line_add(t, "%s%s", bar, signature_name_at(s, e->name));
		bar = "|";
		v &= ~bit;
	}
	if (v)
		*t = before;
	return !v;
}

static void print_enum(struct line *t, const struct signature *s, const struct type *type,
		       const uint8_t *bytes)
{
	uint64_t v = low_word(bytes, type->size);
	int64_t value = type->flags & TYPE_SIGNED ? extend(v, type->size) : (int64_t)v;
	bool rust = s->language == LANGUAGE_RUST;

	for (uint32_t i = 0; i < type->n; i++) {
		const struct enumerator *e = signature_enumerator_at(s, type, i);

		if (e && e->value == value) {
			if (rust)
				line_add(t, "%s::", signature_name_at(s, type->name));
			line_add(t, "%s", signature_name_at(s, e->name));
			return;
		}
	}
	if (value <= 0 || rust || !print_bits(t, s, type, v))
		print_int(t, type, bytes);
}

/* -------------------------------------------------------------------------- */

/* Digits only, from there on: Rust tells floats by the point. */
static bool is_whole(const struct line *t, size_t at)
{
	if (t->n >= t->size)
		return false;
	return !t->p[at + strspn(t->p + at, "-0123456789")];
}

void print_scalar(struct line *t, const struct signature *s, const struct type *type,
		  const uint8_t bytes[SCALAR_MAX])
{
	uint64_t v = low_word(bytes, type->size);
	size_t at;

	switch (type->kind) {
	case TYPE_BOOL:
		if (v > 1)
			print_int(t, type, bytes);
		else
			line_add(t, "%s", v ? "true" : "false");
		break;
	case TYPE_CHAR:
		line_character(t, (uint32_t)v, type->size == 4);
		break;
	case TYPE_ENUM:
		print_enum(t, s, type, bytes);
		break;
	case TYPE_FLOAT:
		at = t->n;
		print_float(t, bytes, type->size, type->flags);
		if (s->language == LANGUAGE_RUST && is_whole(t, at))
			line_add(t, ".0");
		break;
	case TYPE_POINTER:
	case TYPE_REFERENCE:
	case TYPE_CODE:
		line_add(t, v ? "%#llx" : s->language == LANGUAGE_GO ? "nil" : "NULL",
			 (unsigned long long)v);
		break;
	default:
		print_int(t, type, bytes);
	}
}

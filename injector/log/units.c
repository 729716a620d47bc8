/* SPDX-License-Identifier: MIT */
/* units: how much is "50ms", "64K", "4121"? */
#include "injector/log/units.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit times[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000 },
	{ "m", 60000000000 },
};

static const struct unit sizes[] = {
	{ "", 1 }, { "B", 1 },
	{ "K", 1024 }, { "KB", 1024 }, { "KiB", 1024 },
	{ "M", 1 << 20 }, { "MB", 1 << 20 }, { "MiB", 1 << 20 },
	{ "G", 1 << 30 }, { "GB", 1 << 30 }, { "GiB", 1 << 30 },
};

/* The digits at *p, which moves behind them; there must be one. */
static int digits(const char **p, uint64_t *ret)
{
	uint64_t value = 0;

	if (!isdigit((unsigned char)**p))
		return -EINVAL;
	for (; isdigit((unsigned char)**p); (*p)++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(**p - '0'), &value))
			return -ERANGE;
	*ret = value;
	return 0;
}

int units_number(const char *text, uint64_t max, uint64_t *ret)
{
	const char *p = text;
	uint64_t value;
	int err = digits(&p, &value);

	if (err)
		return err;
	if (*p)
		return -EINVAL;
	if (value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

/* ".25" of a unit: what is finer than one of the target unit is cut off. */
static uint64_t fraction(const char **p, uint64_t factor)
{
	uint64_t sum = 0;

	for (; isdigit((unsigned char)**p); (*p)++) {
		factor /= 10;
		sum += (uint64_t)(**p - '0') * factor;
	}
	return sum;
}

static int scale(const char *text, const char *p, uint64_t whole, bool dot,
		 uint64_t factor, uint64_t *ret)
{
	if (__builtin_mul_overflow(whole, factor, &whole))
		return -ERANGE;
	if (dot) {
		p = strchr(text, '.') + 1;
		if (__builtin_add_overflow(whole, fraction(&p, factor), &whole))
			return -ERANGE;
	}
	*ret = whole;
	return 0;
}

/* A number at *p, which moves behind it; `dot`: with a fraction, which may be all of it. */
static int decimal(const char **p, uint64_t *whole, bool *dot)
{
	*whole = 0;
	int err = **p == '.' ? 0 : digits(p, whole);

	*dot = !err && **p == '.';
	if (!*dot)
		return err;
	if (!isdigit((unsigned char)*++*p))
		return -EINVAL;
	*p += strspn(*p, "0123456789");
	return 0;
}

int units_time(const char *text, uint64_t bare, uint64_t *ret)
{
	const char *p = text;
	uint64_t whole;
	bool dot;
	int err = decimal(&p, &whole, &dot);

	if (err)
		return err;
	if (!*p)
		return bare ? scale(text, p, whole, dot, bare, ret) : -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		if (strcmp(p, times[i].name) == 0)
			return scale(text, p, whole, dot, times[i].factor, ret);
	return -EINVAL;
}

int units_percent(const char *text, uint32_t *ret)
{
	const char *p = text;
	uint64_t whole, hundredths;
	bool dot;
	int err = decimal(&p, &whole, &dot);

	if (!err && strcmp(p, "%") != 0 && *p)
		err = -EINVAL;
	err = err ? err : scale(text, p, whole, dot, 100, &hundredths);
	if (err)
		return err;
	if (!hundredths || hundredths > 10000)
		return -ERANGE;
	*ret = (uint32_t)hundredths;
	return 0;
}

int units_size(const char *text, uint64_t *ret)
{
	const char *p = text;
	uint64_t whole;
	int err = digits(&p, &whole);

	if (err)
		return err;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (strcasecmp(p, sizes[i].name) == 0)
			return scale(text, p, whole, false, sizes[i].factor, ret);
	return -EINVAL;
}

/* SPDX-License-Identifier: MIT */
#include "trace/show/spread.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	LABEL = 100, ROW_LABEL = 2 * LABEL + 8,
	SHIFT = 1100,		/* a row's power is this and the exponent: above 0 for all */
	ENDLESS = SHIFT + 1024,	/* infinity */
	GAP = 4,		/* as many empty rows are shown as dots */
};

/* ---- numbers ------------------------------------------------------------- */

static bool is_negative(const struct number *v)
{
	return !v->is_unsigned && v->i < 0;
}

static struct spread_sum sum_of(const struct number *v)
{
	return (struct spread_sum){ (unsigned __int128)v->i, is_negative(v) ? -1 : 0 };
}

static struct spread_sum without_sign(struct spread_sum v)
{
	return v.high < 0 ? (struct spread_sum){ -v.low, ~v.high + !v.low } : v;
}

static int power_of_integer(const struct number *v)
{
	unsigned __int128 size = without_sign(sum_of(v)).low;
	uint64_t high = (uint64_t)(size >> 64), low = (uint64_t)size;
	int exponent = high ? 127 - __builtin_clzll(high) : low ? 63 - __builtin_clzll(low) : 0;

	return !size ? 0 : is_negative(v) ? -(exponent + SHIFT) : exponent + SHIFT;
}

static int power_of_real(double d)
{
	int exponent;

	if (d == 0)
		return 0;
	if (isinf(d))
		return d < 0 ? -ENDLESS : ENDLESS;
	frexp(d, &exponent);
	return d < 0 ? -(exponent - 1 + SHIFT) : exponent - 1 + SHIFT;
}

/* Of two with the same sign the bits tell, for those below zero are their complements. */
static bool is_less(const struct number *a, const struct number *b)
{
	if (a->real)
		return a->d < b->d;
	return is_negative(a) != is_negative(b) ? is_negative(a) :
		(unsigned __int128)a->i < (unsigned __int128)b->i;
}

static void spread_count(struct spread *s, int power)
{
	size_t at = vec_prefix(s->nrows, i, s->rows[i].power < power);

	if (at == s->nrows || s->rows[at].power != power) {
		if (!vec_push(s->rows, s->nrows, s->cap)) {
			s->broken = true;
			return;
		}
		for (size_t i = s->nrows - 1; i > at; i--)
			s->rows[i] = s->rows[i - 1];
		s->rows[at] = (struct spread_row){ .power = power };
	}
	s->rows[at].n++;
}

static void add_integer(struct spread_sum *to, struct spread_sum v)
{
	to->low += v.low;
	to->high += v.high + (to->low < v.low);
}

void spread_add(struct spread *s, const struct number *v)
{
	if (v->real && isnan(v->d)) {
		s->nan++;
		return;
	}
	s->real = v->real;
	if (!s->n || is_less(v, &s->least))
		s->least = *v;
	if (!s->n || is_less(&s->most, v))
		s->most = *v;
	s->n++;
	if (v->real)
		s->dsum += v->d;
	else
		add_integer(&s->sum, sum_of(v));
	spread_count(s, v->real ? power_of_real(v->d) : power_of_integer(v));
}

void spread_clear(struct spread *s)
{
	free(s->rows);
	*s = (struct spread){ 0 };
}

/* ---- text ---------------------------------------------------------------- */

static void integer_text(struct spread_sum v, char to[LABEL])
{
	const struct spread_sum size = without_sign(v);
	uint64_t words[] = { (uint64_t)size.high, (uint64_t)(size.low >> 64), (uint64_t)size.low };
	char digits[64], *p = digits + sizeof(digits) - 1;

	*p = '\0';
	do {
		unsigned int rest = 0;

		for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
			unsigned __int128 n = (unsigned __int128)rest << 64 | words[i];

			words[i] = (uint64_t)(n / 10);
			rest = (unsigned int)(n % 10);
		}
		*--p = (char)('0' + rest);
	} while (words[0] || words[1] || words[2]);
	if (v.high < 0)
		*--p = '-';
	strcpy(to, p);
}

/* As few digits as say which number it is. */
static size_t real_text(double d, char *to)
{
	for (int digits = 6; digits < 17; digits++) {
		sprintf(to, "%.*g", digits, d);
		if (strtod(to, NULL) == d)
			return strlen(to);
	}
	return (size_t)sprintf(to, "%.17g", d);
}

static void number_text(const struct number *v, char to[LABEL])
{
	if (v->real)
		real_text(v->d, to);
	else
		integer_text(sum_of(v), to);
}

static double average(const struct spread *s)
{
	const struct spread_sum size = without_sign(s->sum);
	double sum = (double)size.high * 0x1p128 + (double)size.low;

	if (s->real)
		sum = s->dsum;
	else if (s->sum.high < 0)
		sum = -sum;
	/* Of both infinities it is none, whatever sign that has. */
	return isnan(sum) ? NAN : sum / (double)s->n;
}

void spread_print_head(const struct spread *s, struct output *out)
{
	char least[LABEL], most[LABEL];

	if (s->nan)
		output_printf(out, ", %llu not a number", (unsigned long long)s->nan);
	if (!s->n)
		return;
	number_text(&s->least, least);
	number_text(&s->most, most);
	output_printf(out, "; average %g, smallest %s, largest %s", average(s), least, most);
}

/* The bounds of a row: those of integers are in it, of others the one that is nearer to 0. */
static void bounds(const struct spread *s, int power, struct number *near, struct number *far)
{
	int exponent = (power < 0 ? -power : power) - SHIFT;

	*near = *far = (struct number){ .real = s->real };
	if (!power)
		return;
	if (s->real) {
		near->d = exponent > 1023 ? copysign(INFINITY, power) :
			ldexp(power < 0 ? -1 : 1, exponent);
		far->d = exponent >= 1023 ? near->d * INFINITY : near->d * 2;
		return;
	}
	unsigned __int128 from = (unsigned __int128)1 << exponent, to = from * 2 - 1;

	/* Of the least number of all there is no other. */
	to = power < 0 && exponent > 126 ? from : to;
	near->is_unsigned = far->is_unsigned = power > 0;
	near->i = (__int128)(power < 0 ? -from : from);
	far->i = (__int128)(power < 0 ? -to : to);
}

static void row_label(const struct spread *s, int power, char to[ROW_LABEL])
{
	char a[LABEL], b[LABEL];
	struct number near, far;

	bounds(s, power, &near, &far);
	number_text(power < 0 ? &far : &near, a);
	number_text(power < 0 ? &near : &far, b);
	if (!power || !strcmp(a, b))
		snprintf(to, ROW_LABEL, "%s", a);
	else if (s->real)
		snprintf(to, ROW_LABEL, power < 0 ? "(%s, %s]" : "[%s, %s)", a, b);
	else
		snprintf(to, ROW_LABEL, "%s..%s", a, b);
}

void spread_bar(uint64_t n, uint64_t most, char bar[BAR_LENGTH + 1])
{
	size_t length = (size_t)((double)n * BAR_LENGTH / (double)MAX(most, 1u) + 0.5);

	length = MIN(length, (size_t)BAR_LENGTH);
	memset(bar, '#', length);
	bar[length] = '\0';
}

static void print_row(const struct spread *s, int power, uint64_t n, uint64_t most, int width,
		      struct output *out)
{
	char label[ROW_LABEL], bar[BAR_LENGTH + 1];

	row_label(s, power, label);
	spread_bar(n, most, bar);
	output_printf(out, "  %*s  %12llu%s%s\n", width, label, (unsigned long long)n,
		      *bar ? "  " : "", bar);
}

/* The next power that there may be: 0 lies between those of both signs. */
static int next_power(const struct spread *s, int power)
{
	if (!s->real && power == -SHIFT)
		return 0;
	if (!s->real && !power)
		return SHIFT;
	return power + 1;
}

/* What lies between two rows and is empty: zero alone of numbers that are no integers, for between
 * it and them there may be a thousand powers. */
static void print_gap(const struct spread *s, int from, int to, uint64_t most, int width,
		      struct output *out)
{
	int n = 0, i;

	for (i = next_power(s, from); i != to && n <= GAP; i = next_power(s, i))
		n++;
	if (n > GAP)
		output_printf(out, "  %*s\n", width, "...");
	for (i = next_power(s, from); i != to && n <= GAP; i = next_power(s, i))
		print_row(s, i, 0, most, width, out);
}

void spread_print(const struct spread *s, struct output *out)
{
	uint64_t most = 0;
	int width = 0;

	for (size_t i = 0; i < s->nrows; i++) {
		char label[ROW_LABEL];

		row_label(s, s->rows[i].power, label);
		width = MAX(width, (int)strlen(label));
		most = MAX(most, s->rows[i].n);
	}
	for (size_t i = 0; i < s->nrows; i++) {
		if (i)
			print_gap(s, s->rows[i - 1].power, s->rows[i].power, most, width, out);
		print_row(s, s->rows[i].power, s->rows[i].n, most, width, out);
	}
}

/* ---- JSON ---------------------------------------------------------------- */

/* JSON has no word for what has no end. */
static void json_number(const char *key, const struct number *v, struct output *out)
{
	char text[LABEL] = "null";

	if (!v->real || isfinite(v->d))
		number_text(v, text);
	output_printf(out, "\"%s\":%s", key, text);
}

static void json_sum(const struct spread *s, struct output *out)
{
	char text[LABEL];

	if (s->real) {
		json_number("sum", &(struct number){ .real = true, .d = s->dsum }, out);
		return;
	}
	integer_text(s->sum, text);
	output_printf(out, "\"sum\":%s", text);
}

void spread_json(const struct spread *s, struct output *out)
{
	struct number mean = { .real = true, .d = s->n ? average(s) : NAN };
	const char *before = "";

	if (s->nan)
		output_printf(out, ",\"nan\":%llu", (unsigned long long)s->nan);
	output_printf(out, ",");
	json_sum(s, out);
	output_printf(out, ",");
	json_number("avg", &mean, out);
	if (s->n) {
		output_printf(out, ",");
		json_number("min", &s->least, out);
		output_printf(out, ",");
		json_number("max", &s->most, out);
	}
	output_printf(out, ",\"buckets\":[");
	for (size_t i = 0; i < s->nrows; i++, before = ",") {
		struct number near, far;

		bounds(s, s->rows[i].power, &near, &far);
		output_printf(out, "%s{", before);
		json_number("from", s->rows[i].power < 0 ? &far : &near, out);
		output_printf(out, ",");
		json_number("to", s->rows[i].power < 0 ? &near : &far, out);
		output_printf(out, ",\"calls\":%llu}", (unsigned long long)s->rows[i].n);
	}
	output_printf(out, "]");
}

/* SPDX-License-Identifier: MIT */
/* report_json: a report as JSON, an object in each line. */
#include <stdio.h>
#include <string.h>

#include "trace/show/json.h"
#include "trace/show/report.h"

static void print_key(const char *key, bool known, uint64_t value, struct output *out)
{
	if (known)
		output_printf(out, ",\"%s\":%llu", key, (unsigned long long)value);
	else
		output_printf(out, ",\"%s\":null", key);
}

static void print_times(const struct report_line *l, const enum report_key *keys, size_t n,
			struct output *out)
{
	for (size_t i = 0; i < n; i++) {
		char key[16];

		snprintf(key, sizeof(key), "%s_ns", report_word(keys[i]));
		print_key(key, report_knows(l, keys[i]), l->v[keys[i]], out);
	}
}

/* Values that the function has; of the others, which have no texts, there are none. */
static void print_by(const struct report_line *l, const char *const *by, size_t nby,
		     struct output *out)
{
	const char *p = l->texts, *before = "";

	if (!nby)
		return;
	output_printf(out, ",\"by\":");
	if (!p) {
		output_printf(out, "null");
		return;
	}
	output_printf(out, "{");
	for (size_t i = 0; i < nby; i++, p += strlen(p) + 1) {
		if (!*p)
			continue;
		output_printf(out, "%s", before);
		json_string(out, by[i]);
		output_printf(out, ":");
		json_string(out, p);
		before = ",";
	}
	output_printf(out, "}");
}

static void print_named(const struct report_line *l, const char *type, const char *const *by,
			size_t nby, struct output *out)
{
	output_printf(out, "{\"type\":\"%s\",", type);
	if (!l->func) {
		output_printf(out, "\"func\":null,\"others\":%zu", l->nothers);
		return;
	}
	json_func(out, &(struct reader_func){ .name = l->name, .module = l->module });
	print_by(l, by, nby, out);
}

static void print_lost(uint64_t events, struct output *out)
{
	if (events)
		output_printf(out, "{\"type\":\"lost\",\"events\":%llu}\n", (unsigned long long)events);
}

void report_json(const struct report *r, const char *const *by, size_t nby, struct output *out)
{
	enum report_key keys[REPORT_KEYS];
	size_t n = 0;

	for (int i = 0; i < REPORT_KEYS; i++)
		if (i != REPORT_CALLS && (r->off_cpu || !(REPORT_OFF_CPU & 1u << i)))
			keys[n++] = (enum report_key)i;
	for (size_t i = 0; i < r->n; i++) {
		const struct report_line *l = &r->lines[i];

		print_named(l, "report", by, nby, out);
		print_key("calls", true, l->v[REPORT_CALLS], out);
		print_key("parts", true, l->parts, out);
		print_times(l, keys, n, out);
		output_text(out, "}\n", 2);
	}
	print_lost(r->lost, out);
}

static void print_side(const char *side, const struct report_line *l, struct output *out)
{
	static const enum report_key keys[] = { REPORT_TOTAL, REPORT_SELF };

	output_printf(out, ",\"%s\":", side);
	if (!l) {
		output_printf(out, "null");
		return;
	}
	output_printf(out, "{\"calls\":%llu", (unsigned long long)l->v[REPORT_CALLS]);
	print_times(l, keys, ARRAY_SIZE(keys), out);
	output_printf(out, "}");
}

void report_json_diff(const struct report_pairs *p, const char *const *by, size_t nby,
		      struct output *out)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct report_pair *pair = &p->v[i];

		print_named(pair->now ?: pair->before, "diff", by, nby, out);
		print_side("before", pair->before, out);
		print_side("now", pair->now, out);
		output_text(out, "}\n", 2);
	}
	print_lost(p->lost, out);
}

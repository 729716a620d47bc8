/* SPDX-License-Identifier: MIT */
/*
 * metadata: the text that tells readers of CTF what a trace directory holds.
 *
 * In TSDL, so that readers of CTF and we ourselves have one source. What we need
 * comes first, as far as TSDL allows: of a text that was cut off much is left. Names
 * of functions are labels of an enumeration over their ids; another one has the
 * modules as ranges of these ids.
 */
#include "trace/format/metadata.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/format/copies.h"
#include "trace/format/layout.h"

static const char head[] =
"/* CTF 1.8 */\n"
"trace {\n"
"\tmajor = 1;\n"
"\tminor = 8;\n"
"\tuuid = \"%s\";\n"
"\tbyte_order = le;\n"
"\tpacket.header := struct {\n"
"\t\tinteger { size = 32; base = hex; } magic;\n"
"\t\tinteger { size = 8; } uuid[16];\n"
"\t\tinteger { size = 32; } stream_id;\n"
"\t};\n"
"};\n";

/* Fields may end within a word: then the next event begins with the next one. */
static const char types[] =
"typealias integer { size = 64; map = clock.tsc.value; } := time_t;\n"
"typealias integer { size = 64; } := count_t;\n"
"stream {\n"
"\tid = 0;\n"
"\tpacket.context := struct {\n"
"\t\ttime_t timestamp_begin;\n"
"\t\ttime_t timestamp_end;\n"
"\t\tcount_t content_size;\n"
"\t\tcount_t packet_size;\n"
"\t\tcount_t packet_seq_num;\n"
"\t\tcount_t events_discarded;\n"
"\t\tinteger { size = 32; signed = true; } pid;\n"
"\t\tinteger { size = 32; signed = true; } tid;\n"
"\t\tinteger { size = 32; } thread;\n"
"\t\tinteger { size = 32; } stack;\n"
"\t\tinteger { size = 8; encoding = UTF8; } thread_name[16];\n"
"\t\tcount_t clock_ticks;\n"
"\t\tcount_t clock_ns;\n"
"\t};\n"
"\tevent.header := struct {\n"
"\t\tenum : integer { size = 2; align = 1; } { entry = 1, exit = 2, other = 3 } id;\n"
"\t\tinteger { size = 40; align = 1; map = clock.tsc.value; } timestamp;\n"
"\t\tvariant <id> {\n"
"\t\t\tstruct { } entry;\n"
"\t\t\tstruct { } exit;\n"
"\t\t\tstruct { integer { size = 22; align = 1; } id; } other;\n"
"\t\t} v;\n"
"\t}%s;\n"
"};\n";

/* Two words: the second is a function, or a number. */
#define FUNC_FIELDS "func_t func; integer { size = 42; align = 1; } reserved;"

static const struct {
	int id;
	const char *name, *fields;
} events[] = {
	{ REC_ENTRY, "entry", "func_t func;" },
	{ REC_EXIT, "exit", "func_t func;" },
	{ LAYOUT_UNWOUND, "unwound", FUNC_FIELDS },
	{ LAYOUT_EXIT_LOST, "exit_lost", FUNC_FIELDS },
	{ LAYOUT_ENTRY_ONLY, "entry_only", FUNC_FIELDS },
	{ LAYOUT_BEFORE, "began_before", FUNC_FIELDS },
	{ LAYOUT_VALUES, "values", "func_t func; integer { size = 16; align = 1; } bytes; "
	  "integer { size = 10; align = 1; } n; integer { size = 16; align = 1; } reserved; "
	  "integer { size = 64; base = hex; } words[n];" },
	{ LAYOUT_CALLERS, "callers", "func_t func; integer { size = 8; align = 1; } n; "
	  "integer { size = 8; align = 1; } cut; integer { size = 26; align = 1; } reserved; "
	  "integer { size = 64; base = hex; } addresses[n];" },
	{ LAYOUT_OFF, "off", "count_t preempted;" },
	{ LAYOUT_ON, "on", "count_t reserved;" },
	{ LAYOUT_SWITCHES_LOST, "switches_lost", "count_t reserved;" },
	{ LAYOUT_BEGUN, "begun", FUNC_FIELDS " count_t begin;" },
	{ LAYOUT_LOST, "lost", "count_t events;" },
	{ LAYOUT_STACK, "stack", "count_t number;" },
	{ LAYOUT_STACK_END, "stack_end", "count_t number;" },
};

#define END_FORMAT METADATA_END_KEY "%-20" PRIu64 ";\n\tfailed = %-20" PRIu64 ";\n"

/* As a string of TSDL. */
static void put_string(FILE *f, const char *s)
{
	putc('"', f);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			putc('\\', f);
		putc((unsigned char)*s < ' ' || *s == 0x7f ? '?' : *s, f);
	}
	putc('"', f);
}

static void put_text(FILE *f, const char *key, const char *value)
{
	fprintf(f, "\t%s = ", key);
	put_string(f, value ? value : "");
	fputs(";\n", f);
}

static void put_value(FILE *f, const char *key, uint64_t value)
{
	/* babeltrace2 takes integers of an environment for signed ones. */
	fprintf(f, "\t%s = %" PRIu64 ";\n", key, MIN(value, (uint64_t)INT64_MAX));
}

/* With as much room as any value takes: see metadata_end. */
static void put_end(FILE *f, const struct about *a)
{
	fprintf(f, END_FORMAT, MIN(a->end, (uint64_t)INT64_MAX), a->failed);
}

bool metadata_end(const char *text, const struct about *a, struct metadata_place *ret)
{
	const char *at = strstr(text, METADATA_END_KEY);

	if (!at)
		return false;
	ret->at = (size_t)(at - text);
	ret->size = (size_t)snprintf(ret->text, sizeof(ret->text), END_FORMAT,
				     MIN(a->end, (uint64_t)INT64_MAX), a->failed);
	return ret->size < sizeof(ret->text);
}

static void put_modules(FILE *f, const struct about *a)
{
	for (size_t i = 0; i < a->nmodules; i++) {
		char key[48];

		snprintf(key, sizeof(key), "module_%zu", i);
		put_text(f, key, a->modules[i].path);
		snprintf(key, sizeof(key), "module_%zu_build_id", i);
		put_text(f, key, a->modules[i].build_id);
		fprintf(f, "\tmodule_%zu_base = \"0x%" PRIx64 "\";\n", i, a->modules[i].base);
	}
}

/* The signature and plan by which what was read of the calls of a function is understood, in
 * hexadecimal. */
static void put_values(FILE *f, size_t id, const struct reader_func *func)
{
	if (!func->values)
		return;
	fprintf(f, "\tvalues_%zu = \"", id);
	for (size_t i = 0; i < func->nvalues; i++)
		fprintf(f, "%02x", func->values[i]);
	fputs("\";\n", f);
}

/* "net_peek <- net_skip <- " */
static void put_inlined(FILE *f, size_t caller, const char *names)
{
	auto_free char *lines = NULL;
	size_t size;
	FILE *to = open_memstream(&lines, &size);
	char key[48];

	for (; to && *names; names += strlen(names) + 1)
		fprintf(to, "%s" INLINED_BEHIND, names);
	snprintf(key, sizeof(key), "caller_%zu_inlined", caller);
	if (to && !fclose(to))
		put_text(f, key, lines);
}

static void put_when(FILE *f, size_t id, const struct reader_func *func)
{
	char key[48];

	snprintf(key, sizeof(key), "when_%zu", id);
	if (func->when)
		put_text(f, key, func->when);
}

/* "0x55d0c0de 0x1c server" and "net_read": an address, how far behind what, and in which file; and
 * the function. */
static void put_callers(FILE *f, const struct about *a)
{
	for (size_t i = 0; i < a->ncallers; i++) {
		const struct caller *c = &a->callers[i];
		char key[48], place[512];

		snprintf(key, sizeof(key), "caller_%zu", i);
		snprintf(place, sizeof(place), "0x%" PRIx64 " 0x%" PRIx64 " %s", c->address,
			 c->offset, c->module ? c->module : "");
		put_text(f, key, place);
		snprintf(key, sizeof(key), "caller_%zu_func", i);
		if (c->func)
			put_text(f, key, c->func);
		if (c->inlined)
			put_inlined(f, i, c->inlined);
	}
}

static void put_env(FILE *f, const struct about *a)
{
	fputs("env {\n", f);
	put_value(f, "inject_layout", LAYOUT_VERSION);
	put_text(f, "tracer_name", "inject");
	put_text(f, "tracer_version", INJECT_VERSION);
	put_text(f, "hostname", a->host);
	put_text(f, "procname", a->program);
	put_value(f, "vpid", (uint64_t)a->pid);
	put_text(f, "exe", a->exe);
	put_value(f, "begin", a->begin);
	put_end(f, a);
	put_value(f, "left_free", a->left_free);
	put_value(f, "clock_ticks", a->clock.ticks);
	put_value(f, "clock_ns", a->clock.ns);
	put_value(f, "clock_realtime", a->clock.realtime);
	put_value(f, "clock_run_ticks", a->clock.run_ticks);
	put_value(f, "clock_run_ns", a->clock.run_ns);
	put_value(f, "cost_pair", a->cost.pair);
	put_value(f, "cost_inside", a->cost.inside);
	put_value(f, "cost_mark", a->cost.mark);
	put_value(f, "functions", a->nfuncs);
	put_value(f, "probed", a->probed);
	put_value(f, "refused", a->refused);
	put_value(f, "pause_ns", a->pause_ns);
	put_value(f, "events", a->events);
	put_value(f, "lost", a->lost);
	put_value(f, "disarmed", a->disarmed);
	put_value(f, "target_ended", a->gone);
	put_value(f, "removed", a->removed);
	put_value(f, "verified", a->verified);
	put_value(f, "rotated", a->rotated);
	put_value(f, "kept", a->kept);
	put_value(f, "off_cpu", a->off_cpu);
	put_value(f, "began_before", a->nbefore);
	put_value(f, "first_functions", a->first_funcs);
	put_value(f, "filter_min_duration", a->filter.min_duration);
	put_value(f, "filter_depth", a->filter.depth);
	put_text(f, "filter_when", a->filter.when);
	put_value(f, "slow_func", a->slow.func);
	put_value(f, "slow_tid", a->slow.tid);
	put_value(f, "slow_begin", a->slow.begin);
	put_value(f, "slow_end", a->slow.end);
	for (size_t i = 0; i < a->lanes; i++)
		fprintf(f, "\tlane_%zu_packets = %" PRIu64 ";\n", i, a->packets[i]);
	put_modules(f, a);
	for (size_t i = 0; i < a->nfuncs; i++) {
		put_values(f, i, &a->funcs[i]);
		put_when(f, i, &a->funcs[i]);
		copies_put(f, i, &a->funcs[i]);
	}
	put_callers(f, a);
	fputs("};\n", f);
}

/* Readers count ticks from the epoch by a whole number of Hz. */
static void put_clock(FILE *f, const struct about *a, const char *uuid)
{
	const struct clock *c = &a->clock;
	uint64_t freq = 1000000000, since, offset;

	if (c->run_ticks && c->run_ns)
		freq = (uint64_t)((unsigned __int128)c->run_ticks * 1000000000 / c->run_ns);
	freq = MAX(freq, 1ull);
	/* The wall clock of tick 0, in ns and then in ticks beyond a second. */
	since = (uint64_t)((unsigned __int128)c->ticks * 1000000000 / freq);
	offset = c->realtime - MIN(since, c->realtime);
	fprintf(f, "clock {\n\tname = tsc;\n\tuuid = \"%s\";\n", uuid);
	fputs("\tdescription = \"the processors' time stamp counter\";\n", f);
	fprintf(f, "\tfreq = %" PRIu64 ";\n\tprecision = 0;\n", freq);
	fprintf(f, "\toffset_s = %" PRIu64 ";\n\toffset = %" PRIu64 ";\n", offset / 1000000000,
		(uint64_t)((unsigned __int128)(offset % 1000000000) * freq / 1000000000));
	fputs("\tabsolute = false;\n};\n", f);
}

static bool same_module(const struct about *a, size_t i, size_t j)
{
	const char *x = a->funcs[i].module, *y = a->funcs[j].module;

	return x == y || strcmp(x, y) == 0;
}

static bool same_probe(const struct about *a, size_t i, size_t j)
{
	return a->funcs[i].entry_only == a->funcs[j].entry_only;
}

static const char *module_label(const struct about *a, size_t i)
{
	return a->funcs[i].module;
}

static const char *probe_label(const struct about *a, size_t i)
{
	return a->funcs[i].entry_only ? "entry" : "entry and exit";
}

/* One without labels is none. */
static void begin_enum(FILE *f, const struct about *a)
{
	fputs("typealias enum : integer { size = 22; align = 1; } {\n", f);
	if (!a->nfuncs)
		fputs("\t\"none\" = 0,\n", f);
}

/* What neighbours have in common, as ranges of ids. */
static void put_ranges(FILE *f, const struct about *a, const char *name,
		       bool (*same)(const struct about *, size_t, size_t),
		       const char *(*label)(const struct about *, size_t))
{
	begin_enum(f, a);
	for (size_t i = 0, end; i < a->nfuncs; i = end) {
		for (end = i + 1; end < a->nfuncs && same(a, i, end);)
			end++;
		putc('\t', f);
		put_string(f, label(a, i));
		fprintf(f, " = %zu ... %zu,\n", i, end - 1);
	}
	fprintf(f, "} := %s;\n", name);
}

static void put_functions(FILE *f, const struct about *a)
{
	put_ranges(f, a, "module_of_t", same_module, module_label);
	put_ranges(f, a, "probed_at_t", same_probe, probe_label);
	begin_enum(f, a);
	for (size_t i = 0; i < a->nfuncs; i++) {
		putc('\t', f);
		put_string(f, a->funcs[i].name);
		fprintf(f, " = %zu,\n", i);
	}
	fputs("} := func_t;\n", f);
}

static void put_events(FILE *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		fprintf(f, "event {\n\tname = \"%s\";\n\tid = %d;\n\tstream_id = 0;\n"
			   "\tfields := struct { %s };\n};\n",
			events[i].name, events[i].id, events[i].fields);
}

static void uuid_text(const uint8_t id[16], char ret[37])
{
	for (int i = 0; i < 16; i++) {
		ret += sprintf(ret, "%02x", id[i]);
		if (i == 3 || i == 5 || i == 7 || i == 9)
			*ret++ = '-';
	}
}

int metadata_make(const struct about *a, char **ret, size_t *size)
{
	FILE *f = open_memstream(ret, size);
	char uuid[37];

	if (!f)
		return fail(ENOMEM, "describe the trace");
	uuid_text(a->uuid, uuid);
	fprintf(f, head, uuid);
	put_env(f, a);
	put_clock(f, a, uuid);
	put_functions(f, a);
	fprintf(f, types, a->fields ? " align(64)" : "");
	put_events(f);
	if (a->fields)
		fputs(a->fields, f);
	bool failed = ferror(f);
	if (fclose(f) == 0 && !failed)
		return 0;
	free(*ret);
	*ret = NULL;
	return fail(ENOMEM, "describe the trace");
}

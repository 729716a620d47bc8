/* SPDX-License-Identifier: MIT */
/*
 * tsdl: what does the metadata of a trace directory say?
 *
 * Only what inject writes is understood, word by word: numbers and strings of
 * `env`, and the labels of three enumerations. All else is passed over, so a later
 * version may add to it. Every byte is hostile: what is counted or repeated is
 * bounded by the length of the text.
 */
#include "trace/format/metadata.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/format/copies.h"
#include "trace/format/layout.h"
#include "trace/format/places.h"

#define LAST_EVENT "stack_end"	/* nothing that we need stands behind it */

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_MARK };

struct token {
	enum token_kind kind;
	const char *text;	/* of WORD and MARK, not terminated */
	size_t n;
	uint64_t number;
	char *string;		/* of STRING; owned by the metadata */
};

struct scan {
	const char *p, *end;
	struct metadata *m;
	int err;
};

static void skip_space(struct scan *s)
{
	while (s->p < s->end) {
		if (isspace((unsigned char)*s->p)) {
			s->p++;
		} else if (s->end - s->p > 1 && s->p[0] == '/' && s->p[1] == '*') {
			const char *close = memmem(s->p + 2, (size_t)(s->end - s->p) - 2, "*/", 2);

			s->p = close ? close + 2 : s->end;
		} else {
			return;
		}
	}
}

static char *tsdl_keep(struct scan *s, char *string)
{
	char **slot = string ? vec_push(s->m->strings, s->m->nstrings, s->m->strings_cap) : NULL;

	if (!slot) {
		free(string);
		s->err = -ENOMEM;
		return NULL;
	}
	return *slot = string;
}

/* Behind the opening quote. One that is not closed is no token. */
static enum token_kind scan_string(struct scan *s, struct token *t)
{
	const char *close = s->p;
	char *to;

	while (close < s->end && *close != '"')
		close += *close == '\\' ? 2 : 1;
	if (close >= s->end) {
		s->p = s->end;
		return TOKEN_END;
	}
	t->string = tsdl_keep(s, malloc((size_t)(close - s->p) + 1));
	if (!t->string)
		return TOKEN_END;
	for (to = t->string; s->p < close; s->p++) {
		if (*s->p == '\\')
			s->p++;
		*to++ = (unsigned char)*s->p < ' ' || *s->p == 0x7f ? '?' : *s->p;
	}
	*to = '\0';
	s->p++;
	return TOKEN_STRING;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static enum token_kind scan_word(struct scan *s, struct token *t)
{
	bool number = isdigit((unsigned char)*s->p);

	t->text = s->p;
	while (s->p < s->end && is_word(*s->p)) {
		number = number && isdigit((unsigned char)*s->p) &&
			 !__builtin_mul_overflow(t->number, 10, &t->number) &&
			 !__builtin_add_overflow(t->number, (uint64_t)(*s->p - '0'), &t->number);
		s->p++;
	}
	t->n = (size_t)(s->p - t->text);
	return number ? TOKEN_NUMBER : TOKEN_WORD;
}

static struct token tsdl_next(struct scan *s)
{
	struct token t = { 0 };

	skip_space(s);
	if (s->p >= s->end)
		return t;
	if (*s->p == '"') {
		s->p++;
		t.kind = scan_string(s, &t);
	} else if (is_word(*s->p)) {
		t.kind = scan_word(s, &t);
	} else {
		t = (struct token){ .kind = TOKEN_MARK, .text = s->p++, .n = 1 };
	}
	return t;
}

static bool is_mark(const struct token *t, char c)
{
	return t->kind == TOKEN_MARK && *t->text == c;
}

static bool is(const struct token *t, const char *word)
{
	return t->kind == TOKEN_WORD && t->n == strlen(word) && !memcmp(t->text, word, t->n);
}

/* "lane_12_packets": the number between prefix and suffix; false if it is another
 * word. */
static bool numbered(const struct token *t, const char *prefix, const char *suffix, size_t *ret)
{
	size_t n = strlen(prefix), rest, value = 0;
	const char *p, *end;

	if (t->kind != TOKEN_WORD || t->n <= n || memcmp(t->text, prefix, n) ||
	    !isdigit((unsigned char)t->text[n]))
		return false;
	end = t->text + t->n;
	for (p = t->text + n; p < end && isdigit((unsigned char)*p) && value < 1u << 30; p++)
		value = value * 10 + (size_t)(*p - '0');
	rest = (size_t)(end - p);
	*ret = value;
	return rest == strlen(suffix) && !memcmp(p, suffix, rest);
}

/* ---- env ----------------------------------------------------------------- */

/* Make room for element `i` of a table. There are no more of them than bytes of text: each
 * takes one line at least. */
static void *element(struct scan *s, void **table, size_t *n, size_t size, size_t i)
{
	size_t most = MIN((size_t)(s->end - s->p) + *n, (size_t)MAX_LANES);

	if (i >= *n) {
		void *bigger = i < most ? realloc(*table, (i + 1) * size) : NULL;

		if (!bigger)
			return NULL;
		memset((char *)bigger + *n * size, 0, (i + 1 - *n) * size);
		*table = bigger;
		*n = i + 1;
	}
	return (char *)*table + i * size;
}

static void take_number(struct scan *s, const struct token *key, uint64_t value)
{
	struct about *a = &s->m->about;
	uint64_t pid = 0, functions = 0;
	const struct {
		const char *name;
		uint64_t *to;
	} numbers[] = {
		{ "inject_layout", &s->m->version }, { "vpid", &pid },
		{ "begin", &a->begin }, { "end", &a->end }, { "failed", &a->failed },
		{ "left_free", &a->left_free },
		{ "clock_ticks", &a->clock.ticks },
		{ "clock_ns", &a->clock.ns },
		{ "clock_realtime", &a->clock.realtime },
		{ "clock_run_ticks", &a->clock.run_ticks },
		{ "clock_run_ns", &a->clock.run_ns },
		{ "cost_pair", &a->cost.pair },
		{ "cost_inside", &a->cost.inside }, { "cost_mark", &a->cost.mark },
		{ "functions", &functions }, { "probed", &a->probed },
		{ "refused", &a->refused }, { "pause_ns", &a->pause_ns },
		{ "events", &a->events }, { "lost", &a->lost }, { "disarmed", &a->disarmed },
		{ "began_before", &a->nbefore }, { "first_functions", &a->first_funcs },
		{ "filter_min_duration", &a->filter.min_duration },
		{ "filter_depth", &a->filter.depth },
		{ "slow_func", &a->slow.func }, { "slow_tid", &a->slow.tid },
		{ "slow_begin", &a->slow.begin }, { "slow_end", &a->slow.end },
	};
	const struct {
		const char *name;
		bool *to;
	} truths[] = {
		{ "rotated", &a->rotated }, { "target_ended", &a->gone },
		{ "removed", &a->removed }, { "verified", &a->verified },
		{ "kept", &a->kept }, { "off_cpu", &a->off_cpu },
	};
	size_t i;

	if (numbered(key, "lane_", "_packets", &i)) {
		uint64_t *p = element(s, (void **)&s->m->packets, &a->lanes, sizeof(*p), i);

		if (p)
			*p = value;
		return;
	}
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (is(key, numbers[i].name))
			*numbers[i].to = value;
	for (i = 0; i < ARRAY_SIZE(truths); i++)
		if (is(key, truths[i].name))
			*truths[i].to = value != 0;
	a->pid = pid ? (int32_t)MIN(pid, (uint64_t)INT32_MAX) : a->pid;
	/* Each has a line of this text. */
	if (functions)
		s->m->unnamed = MIN(functions, (uint64_t)(s->end - s->p));
}

static struct about_module *module_at(struct scan *s, size_t i)
{
	return element(s, (void **)&s->m->modules, &s->m->about.nmodules,
		       sizeof(struct about_module), i);
}

static struct caller *caller_at(struct scan *s, size_t i)
{
	return element(s, (void **)&s->m->callers, &s->m->about.ncallers,
		       sizeof(struct caller), i);
}

/* "0xADDRESS 0xOFFSET MODULE" */
static void take_caller(struct caller *c, const char *value)
{
	char *end;

	c->address = strtoull(value, &end, 16);
	c->offset = strtoull(end, &end, 16);
	c->module = *end == ' ' && end[1] ? end + 1 : NULL;
}

/* What stands behind each name becomes its end, and the text's end the empty one. What it is not
 * behind is no name. */
static const char *take_inlined(char *value)
{
	char *to = value;

	for (char *p = value, *end; (end = strstr(p, INLINED_BEHIND));
	     p = end + strlen(INLINED_BEHIND)) {
		memmove(to, p, (size_t)(end - p));
		to += end - p;
		*to++ = '\0';
	}
	*to = '\0';
	return value;
}

static void take_string(struct scan *s, const struct token *key, char *value)
{
	struct about *a = &s->m->about;
	struct about_module *m;
	struct caller *c;
	size_t i;

	if (is(key, "hostname"))
		a->host = value;
	else if (is(key, "procname"))
		a->program = value;
	else if (is(key, "exe"))
		a->exe = value;
	else if (is(key, "filter_when"))
		a->filter.when = *value ? value : NULL;
	else if (numbered(key, "module_", "", &i) && (m = module_at(s, i)))
		m->path = value;
	else if (numbered(key, "module_", "_build_id", &i) && (m = module_at(s, i)))
		snprintf(m->build_id, sizeof(m->build_id), "%s", value);
	else if (numbered(key, "module_", "_base", &i) && (m = module_at(s, i)))
		m->base = strtoull(value, NULL, 16);
	else if (numbered(key, "caller_", "", &i) && (c = caller_at(s, i)))
		take_caller(c, value);
	else if (numbered(key, "caller_", "_func", &i) && (c = caller_at(s, i)))
		c->func = value;
	else if (numbered(key, "caller_", "_inlined", &i) && (c = caller_at(s, i)))
		c->inlined = take_inlined(value);
}

/* The table of functions has as many as `env` has counted. */
static int make_funcs(struct metadata *m)
{
	if (m->funcs)
		return 0;
	m->funcs = calloc(m->unnamed + 1, sizeof(*m->funcs));
	if (!m->funcs)
		return -ENOMEM;
	m->about.nfuncs = m->unnamed;
	return 0;
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Into bytes, where they are. */
static size_t unhex(char *text)
{
	size_t n = 0;

	for (; digit(text[2 * n]) >= 0 && digit(text[2 * n + 1]) >= 0; n++)
		text[n] = (char)(digit(text[2 * n]) << 4 | digit(text[2 * n + 1]));
	return n;
}

/* "values_12", "when_12", "copy_12": what is said of a function is behind how many there are. */
static bool take_of_func(struct scan *s, const struct token *key, char *value)
{
	size_t i;
	bool values = numbered(key, "values_", "", &i);
	bool copy = !values && numbered(key, "copy_", "", &i);

	if (!values && !copy && !numbered(key, "when_", "", &i))
		return false;
	s->err = s->err ?: make_funcs(s->m);
	if (s->err || i >= s->m->about.nfuncs)
		return true;
	if (values) {
		s->m->funcs[i].nvalues = unhex(value);
		s->m->funcs[i].values = (const uint8_t *)value;
	} else if (copy) {
		s->err = copies_take(s->m, &s->m->funcs[i], value);
	} else {
		s->m->funcs[i].when = *value ? value : NULL;
	}
	return true;
}

/* KEY = VALUE; up to the closing brace. */
static void scan_env(struct scan *s)
{
	struct token key, value;

	for (;;) {
		key = tsdl_next(s);
		if (key.kind == TOKEN_END || is_mark(&key, '}'))
			return;
		if (key.kind == TOKEN_MARK)
			continue;
		value = tsdl_next(s);
		if (!is_mark(&value, '='))
			continue;
		value = tsdl_next(s);
		if (value.kind == TOKEN_NUMBER)
			take_number(s, &key, value.number);
		else if (value.kind == TOKEN_STRING && !take_of_func(s, &key, value.string))
			take_string(s, &key, value.string);
	}
}

/* ---- enumerations -------------------------------------------------------- */

struct label {
	char *text;
	uint64_t first, last;
};

static struct reader_func *func_at(struct scan *s, uint64_t id)
{
	struct metadata *m = s->m;

	return id < m->about.nfuncs ? &m->funcs[id] : NULL;
}

static void name_function(struct scan *s, const struct label *l)
{
	struct reader_func *f = func_at(s, l->first);

	if (!f || l->last != l->first)
		return;
	s->m->unnamed -= !f->name;
	f->name = l->text;
}

static void name_module(struct scan *s, const struct label *l)
{
	for (uint64_t i = l->first; i <= l->last && func_at(s, i); i++)
		func_at(s, i)->module = l->text;
}

static void set_probed(struct scan *s, const struct label *l)
{
	if (strcmp(l->text, "entry") == 0)
		for (uint64_t i = l->first; i <= l->last && func_at(s, i); i++)
			func_at(s, i)->entry_only = true;
}

/* "LABEL" = N, or = N ... M, behind the opening brace; returns at the closing one. */
static void scan_labels(struct scan *s, void (*take)(struct scan *, const struct label *))
{
	struct token t = tsdl_next(s);
	uint64_t least = 0;	/* they go up, or each could have all functions */

	while (t.kind == TOKEN_STRING) {
		struct label l = { .text = t.string };

		t = tsdl_next(s);
		t = tsdl_next(s);
		if (t.kind != TOKEN_NUMBER)
			return;
		l.first = l.last = t.number;
		for (t = tsdl_next(s); is_mark(&t, '.');)
			t = tsdl_next(s);
		if (t.kind == TOKEN_NUMBER) {
			l.last = t.number;
			t = tsdl_next(s);
		}
		if (l.first >= least && l.last < UINT64_MAX) {
			take(s, &l);
			least = MAX(l.first, l.last) + 1;
		}
		t = is_mark(&t, ',') ? tsdl_next(s) : t;
	}
}

/*
 * enum : integer { ... } { LABELS } := NAME. What the labels are for is said behind
 * them. In the order of writing: first modules, then probes, then names.
 */
static void scan_enum(struct scan *s, int nth)
{
	static void (*const takes[])(struct scan *, const struct label *) = {
		name_module, set_probed, name_function,
	};
	struct token t;

	do
		t = tsdl_next(s);
	while (t.kind != TOKEN_END && !is_mark(&t, '}'));
	t = tsdl_next(s);
	if (is_mark(&t, '{') && nth < (int)ARRAY_SIZE(takes))
		scan_labels(s, takes[nth]);
}

/* = 8 */
static void scan_number(struct scan *s, uint64_t *ret)
{
	struct token t = tsdl_next(s);

	t = is_mark(&t, '=') ? tsdl_next(s) : t;
	if (t.kind == TOKEN_NUMBER)
		*ret = t.number;
}

/* = "2a6422d0-6cee-11e0-8c08-cb07d7b3a564" */
static void scan_uuid(struct scan *s)
{
	struct token t = tsdl_next(s);
	unsigned int byte, n = 0;

	t = is_mark(&t, '=') ? tsdl_next(s) : t;
	if (t.kind != TOKEN_STRING)
		return;
	for (const char *p = t.string; n < 16 && sscanf(p, "%2x", &byte) == 1;) {
		s->m->about.uuid[n++] = (uint8_t)byte;
		p += strnlen(p, 2);
		p += *p == '-';
	}
}

static void scan_all(struct scan *s)
{
	int enums = 0;

	while (!s->err) {
		struct token t = tsdl_next(s);

		if (t.kind == TOKEN_END)
			return;
		if (is(&t, "uuid")) {
			scan_uuid(s);
		} else if (is(&t, "major")) {
			scan_number(s, &s->m->ctf_major);
		} else if (is(&t, "minor")) {
			scan_number(s, &s->m->ctf_minor);
		} else if (is(&t, "env")) {
			scan_env(s);
			s->err = s->err ?: make_funcs(s->m);
		} else if (is(&t, "typealias") && (t = tsdl_next(s), is(&t, "enum"))) {
			scan_enum(s, enums++);
		} else if (t.kind == TOKEN_STRING && strcmp(t.string, LAST_EVENT) == 0) {
			s->m->whole = true;
		}
	}
}

static int by_address(const void *a, const void *b)
{
	const struct caller *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* What has no name yet gets one that says so. */
static int name_rest(struct metadata *m)
{
	static const struct reader_func unknown = { .name = "?", .module = "?" };

	for (size_t i = 0; i < m->about.nfuncs; i++) {
		struct reader_func *f = &m->funcs[i];

		f->module = f->module ?: "?";
		if (f->name)
			continue;
		char **slot = vec_push(m->strings, m->nstrings, m->strings_cap);
		f->name = slot ? *slot = base_printf("function_%zu", i) : NULL;
		if (!f->name)
			return -ENOMEM;
	}
	m->funcs[m->about.nfuncs] = unknown;
	m->about.funcs = m->funcs;
	m->about.modules = m->modules;
	vec_sort(m->callers, m->about.ncallers, by_address);
	m->about.callers = m->callers;
	m->about.packets = m->packets;
	return 0;
}

static int join_places(struct metadata *m)
{
	auto_free uint32_t *first = NULL;
	int err = places_first(m->funcs, m->about.nfuncs, &first);

	for (uint32_t i = 0; i < m->about.nfuncs && !err; i++)
		m->funcs[i].behind = i - first[i];
	return err;
}

int metadata_read(const char *text, size_t size, struct metadata *ret)
{
	struct scan s = { .p = text, .end = text + size, .m = ret };

	*ret = (struct metadata){ 0 };
	scan_all(&s);
	s.err = s.err ?: ret->funcs ? s.err : -EBADMSG;
	s.err = s.err ?: name_rest(ret);
	s.err = s.err ?: join_places(ret);
	if (!s.err && !ret->version)
		s.err = -EBADMSG;
	if (s.err)
		metadata_clear(ret);
	return s.err;
}

void metadata_clear(struct metadata *m)
{
	for (size_t i = 0; i < m->nstrings; i++)
		free(m->strings[i]);
	free(m->strings);
	free(m->funcs);
	free(m->modules);
	free(m->callers);
	free(m->packets);
	*m = (struct metadata){ 0 };
}

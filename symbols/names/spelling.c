/* SPDX-License-Identifier: MIT */
#include "symbols/names/spelling.h"

#include <ctype.h>
#include <string.h>

enum {
	DEEPEST = 64,		/* brackets within brackets */
	MOST_ARGS = 16,		/* of one template that are looked at */
};

/* One bracket that is open. */
struct bracket {
	size_t at;		/* in what is written */
	size_t args[MOST_ARGS];	/* where each begins */
	size_t nargs;
	char kind;		/* < ( { [ */
	bool is_const;		/* `const` is still to be written, behind its type */
};

struct writer {
	char *text;
	size_t n, size;
	struct bracket open[DEEPEST];
	size_t depth;
	bool scoped;		/* inline namespaces stay */
	bool failed;
};

bool spelling_in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

const char *spelling_operator(const char *p)
{
	static const char *const symbols[] = {
		"()", "[]", "->*", "->", "<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "<", ">",
		"&&", "&=", "&", "||", "|=", "|", "++", "+=", "+", "--", "-=", "-", "*=", "*",
		"/=", "/", "%=", "%", "^=", "^", "==", "=", "!=", "!", "~", ",", "\"\"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++)
		if (!strncmp(p, symbols[i], strlen(symbols[i])))
			return p + strlen(symbols[i]);
	return p;
}

/* ---- what is written ----------------------------------------------------- */

static void spelling_put(struct writer *w, const char *text, size_t n)
{
	if (n >= w->size - w->n) {
		w->failed = true;
		return;
	}
	memcpy(w->text + w->n, text, n);
	w->n += n;
}

/* Where the name begins that ends at `end`: words and ::. */
static size_t name_before(const struct writer *w, size_t end)
{
	while (end && (spelling_in_word(w->text[end - 1]) || w->text[end - 1] == ':'))
		end--;
	return end;
}

static size_t word_before(const struct writer *w, size_t end)
{
	while (end && spelling_in_word(w->text[end - 1]))
		end--;
	return end;
}

static bool begins(const struct writer *w, size_t at, size_t end, const char *with)
{
	size_t n = strlen(with);

	return end - at >= n && !memcmp(w->text + at, with, n);
}

static bool is_text(const struct writer *w, size_t at, size_t end, const char *text, size_t n)
{
	return end - at == n && !memcmp(w->text + at, text, n);
}

/* ---- templates of std ---------------------------------------------------- */

/* Is it std::pair<FIRST const,...>, which maps allocate? */
static bool is_entry(const struct writer *w, size_t at, size_t end, const char *first, size_t n)
{
	static const char pair[] = "std::pair<";

	if (!begins(w, at, end, pair))
		return false;
	at += sizeof(pair) - 1;
	if (end - at < n || memcmp(w->text + at, first, n) != 0)
		return false;
	at += n;
	return begins(w, at, end, " const,") || begins(w, at, end, "const,");
}

/* Is this argument of a template what it is if it is left out? It is a template itself,
 * of the first one. */
static bool is_default(const struct writer *w, size_t at, size_t end, const char *first, size_t n)
{
	static const char *const names[] = {
		"std::allocator<", "std::char_traits<", "std::less<", "std::hash<",
		"std::equal_to<", "std::default_delete<", "std::regex_traits<",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t inner = at + strlen(names[i]);

		if (begins(w, at, end, names[i]) && end > inner &&
		    (is_text(w, inner, end - 1, first, n) ||
		     (i == 0 && is_entry(w, inner, end - 1, first, n))))
			return true;
	}
	return false;
}

/* The arguments end at w->n. Each but the last has a comma behind it. */
static void drop_defaults(struct writer *w, const struct bracket *b)
{
	size_t nargs = b->nargs, first = nargs > 1 ? b->args[1] - 1 - b->args[0] : 0;

	for (; nargs > 1; nargs--) {
		size_t at = b->args[nargs - 1];

		if (!is_default(w, at, w->n, w->text + b->args[0], first))
			break;
		w->n = at - 1;
	}
}

static const struct {
	const char *type, *letters;
} characters[] = {
	{ "<char", "" }, { "<wchar_t", "w" }, { "<char8_t", "u8" }, { "<char16_t", "u16" },
	{ "<char32_t", "u32" },
};

/* std::basic_x<char>, whose > is not written yet, is called std::x. */
static bool call_by_name(struct writer *w, size_t angle)
{
	static const char basic[] = "basic_";
	size_t word = word_before(w, angle), x_at = word + sizeof(basic) - 1;
	char x[32];

	if (!begins(w, word, angle, basic) || angle - x_at >= sizeof(x))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(characters); i++) {
		if (!is_text(w, angle, w->n, characters[i].type, strlen(characters[i].type)))
			continue;
		memcpy(x, w->text + x_at, angle - x_at);
		w->n = word;
		spelling_put(w, characters[i].letters, strlen(characters[i].letters));
		spelling_put(w, x, angle - x_at);
		return true;
	}
	return false;
}

/* ---- brackets ------------------------------------------------------------ */

static void open_bracket(struct writer *w, char kind)
{
	if (w->depth == DEEPEST) {
		w->failed = true;
		return;
	}
	w->open[w->depth++] = (struct bracket){
		.at = w->n, .kind = kind, .args = { w->n + 1 }, .nargs = 1,
	};
	spelling_put(w, &kind, 1);
}

/* Behind arguments, a word has a space before it. */
static bool is_behind_list(const struct writer *w)
{
	return w->n > 1 && w->text[w->n - 1] == '>' && w->text[w->n - 2] != '-';
}

/* The type ends that `const` is about. */
static void end_type(struct writer *w)
{
	if (!w->depth || !w->open[w->depth - 1].is_const)
		return;
	bool apart = w->n && (spelling_in_word(w->text[w->n - 1]) || is_behind_list(w));

	w->open[w->depth - 1].is_const = false;
	spelling_put(w, " ", apart);
	spelling_put(w, "const", 5);
}

static void close_bracket(struct writer *w, char c)
{
	struct bracket *b = w->depth ? &w->open[w->depth - 1] : NULL;

	end_type(w);
	if (b && b->kind == (c == '>' ? '<' : c == ')' ? '(' : '{')) {
		size_t name = name_before(w, b->at);

		w->depth--;
		if (c == '>' && begins(w, name, b->at, "std::")) {
			if (b->nargs < MOST_ARGS)
				drop_defaults(w, b);
			if (call_by_name(w, b->at))
				return;
		}
	}
	spelling_put(w, &c, 1);
}

static void put_comma(struct writer *w)
{
	struct bracket *b = w->depth ? &w->open[w->depth - 1] : NULL;

	end_type(w);
	spelling_put(w, ",", 1);
	if (b && b->nargs < MOST_ARGS)
		b->args[b->nargs++] = w->n;
}

/* ---- words --------------------------------------------------------------- */

static bool is_word(const char *p, size_t n, const char *word)
{
	return strlen(word) == n && !memcmp(p, word, n);
}

/* A namespace that says of which version the library is. */
static bool is_inline(const struct writer *w, const char *p, size_t n)
{
	static const char *const names[] = { "__cxx11", "__1", "__ndk1", "_V2", "__8" };

	if (w->scoped || strncmp(p + n, "::", 2) != 0 || w->n < 2 ||
	    memcmp(w->text + w->n - 2, "::", 2) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (is_word(p, n, names[i]))
			return true;
	return false;
}

/* The constructor of std::string is std::basic_string's, and so is the destructor. */
static bool put_constructor(struct writer *w, const char *p, size_t n)
{
	size_t end = w->n - (w->n && w->text[w->n - 1] == '~');

	if (n < 7 || memcmp(p, "basic_", 6) != 0 || end < 2 || memcmp(w->text + end - 2, "::", 2))
		return false;
	size_t type = end - 2, begin = word_before(w, type);

	/* std::u8string::basic_string: its name, or what ends it */
	p += 6;
	n -= 6;
	if (!begins(w, name_before(w, type), begin, "std::") || type - begin < n ||
	    memcmp(w->text + type - n, p, n) != 0)
		return false;
	spelling_put(w, w->text + begin, type - begin);
	return true;
}

/* Does a type begin where we are? */
static bool is_type_begin(const struct writer *w)
{
	return w->depth && w->n && strchr("<(,", w->text[w->n - 1]);
}

static const char *put_word(struct writer *w, const char *p)
{
	size_t n = 0;

	while (spelling_in_word(p[n]))
		n++;
	if (is_inline(w, p, n))
		return p + n + 2;
	if (is_word(p, n, "const") && p[n] == ' ' && is_type_begin(w)) {
		w->open[w->depth - 1].is_const = true;
		return p + n + 1;
	}
	if (is_behind_list(w))
		spelling_put(w, " ", 1);
	if (!put_constructor(w, p, n))
		spelling_put(w, p, n);
	if (is_word(p, n, "operator")) {
		const char *end = spelling_operator(p + n);

		/* operator< <int> is not operator<<. */
		if (end > p + n && end[0] == ' ' && end[1] == '<')
			end++;
		spelling_put(w, p + n, (size_t)(end - p) - n);
		return end;
	}
	return p + n;
}

/* ---- the whole ----------------------------------------------------------- */

/* [abi:cxx11], or a set of a pattern. */
static const char *put_set(struct writer *w, const char *p)
{
	const char *end = strchr(p + 1, ']');

	if (end && !strncmp(p, "[abi:", 5))
		return end + 1;
	end_type(w);
	spelling_put(w, p, 1);
	return p + 1;
}

static const char *put_space(struct writer *w, const char *p)
{
	p += strspn(p, " ");
	if (w->n && spelling_in_word(w->text[w->n - 1]) && spelling_in_word(*p))
		spelling_put(w, " ", 1);
	return p;
}

static const char *put_next(struct writer *w, const char *p)
{
	if (spelling_in_word(*p))
		return put_word(w, p);
	switch (*p) {
	case ' ':
		return put_space(w, p);
	case '[':
		return put_set(w, p);
	case ',':
		put_comma(w);
		return p + 1;
	case '(':
		end_type(w);
		/* fall through */
	case '<': case '{':
		open_bracket(w, *p);
		return p + 1;
	case '>':
		if (w->n && w->text[w->n - 1] == '-')
			break;
		/* fall through */
	case ')': case '}':
		close_bracket(w, *p);
		return p + 1;
	case '*': case '&':
		end_type(w);
		break;
	case '\\':
		if (p[1])
			spelling_put(w, p++, 1);
		break;
	}
	spelling_put(w, p, 1);
	return p + 1;
}

static bool spelling_spell(const char *name, bool scoped, char *ret, size_t size)
{
	struct writer w = { .text = ret, .size = size, .scoped = scoped };

	while (*name && !w.failed)
		name = put_next(&w, name);
	if (w.failed)
		return false;
	ret[w.n] = '\0';
	return true;
}

bool spelling_make(const char *name, char *ret, size_t size)
{
	return spelling_spell(name, false, ret, size);
}

bool spelling_make_scoped(const char *name, char *ret, size_t size)
{
	return spelling_spell(name, true, ret, size);
}

bool spelling_matters(const char *pattern)
{
	return strpbrk(pattern, "(<") || strstr(pattern, "std::");
}

/* SPDX-License-Identifier: MIT */
#include "symbols/names/demangle.h"

#include <ctype.h>
#include <errno.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

enum {
	RAW_MAX = 8192,		/* longer symbols stay as they are */
	OUTPUT_MAX = 16384,	/* as do those whose names would be longer */
	BLOCK_SIZE = 256 << 10,
	HASH_DIGITS = 16,
};

/* ---- strings ------------------------------------------------------------- */

struct string_block {
	struct string_block *next;
	size_t used, size;
	char text[];
};

static struct string_block *new_block(struct strings *s, size_t least)
{
	size_t size = MAX(least, (size_t)BLOCK_SIZE);
	struct string_block *b = malloc(sizeof(*b) + size);

	if (!b)
		return NULL;
	b->next = s->blocks;
	b->used = 0;
	b->size = size;
	return s->blocks = b;
}

const char *strings_add(struct strings *s, const char *text, size_t n)
{
	struct string_block *b = s->blocks;
	char *p;

	if (!b || b->size - b->used < n + 1)
		b = new_block(s, n + 1);
	if (!b)
		return NULL;
	p = b->text + b->used;
	b->used += n + 1;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = text[i];

		p[i] = c < ' ' || c == 0x7f ? '?' : text[i];
	}
	p[n] = '\0';
	return p;
}

void strings_clear(struct strings *s)
{
	struct string_block *next;

	for (struct string_block *b = s->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	s->blocks = NULL;
}

/* ---- suffixes ------------------------------------------------------------ */

static const char *const clone_words[] = {
	"isra", "constprop", "part", "cold", "warm", "llvm", "lto_priv", "localalias",
	"clone", "__uniq",
};

/* The word of a clone suffix that starts at `p` (behind its dot): its length,
 * 0 if it is none. */
static size_t clone_word(const char *p, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(clone_words); i++) {
		size_t len = strlen(clone_words[i]);

		if (n >= len && !memcmp(p, clone_words[i], len) &&
		    (n == len || p[len] == '.'))
			return len;
	}
	return 0;
}

/* Cut one suffix: `.word`, with any number of `.digits` behind it. */
static size_t cut_suffix(const char *name, size_t n)
{
	size_t end = n;

	for (;;) {
		const char *dot = memrchr(name, '.', end);

		if (!dot || dot == name)
			return n;

		size_t at = dot - name;
		size_t len = end - at - 1;

		if (clone_word(dot + 1, len) == len && len)
			return at;
		if (!len || strspn(dot + 1, "0123456789") < len)
			return n;
		end = at;
	}
}

size_t demangle_stem(const char *name)
{
	size_t n = strlen(name), shorter;

	while ((shorter = cut_suffix(name, n)) < n)
		n = shorter;
	return n;
}

static bool is_hash(const char *p)
{
	return *p == 'h' && strspn(p + 1, "0123456789abcdef") >= HASH_DIGITS;
}

size_t demangle_unhashed(const char *name)
{
	size_t n = demangle_stem(name);
	const size_t plain = 2 + 1 + HASH_DIGITS;	/* ::h0123... */
	const size_t raw = plain + 1;			/* 17h0123...E */

	if (n > plain && !memcmp(name + n - plain, "::", 2) &&
	    is_hash(name + n - plain + 2))
		return n - plain;
	if (n > raw && !strncmp(name, "_ZN", 3) && name[n - 1] == 'E' &&
	    !memcmp(name + n - raw, "17", 2) && is_hash(name + n - raw + 2))
		return n - raw;
	return strlen(name);
}

/* ---- libiberty ----------------------------------------------------------- */

/*
 * A short symbol can ask for a name of many gigabytes, by substitutions that
 * refer to substitutions. libiberty hands out the name in pieces and cannot be
 * told to stop, so the piece that is too much leaves by longjmp; it holds no
 * memory of its own at that time but for a few bytes of Rust's punycode.
 */
struct output {
	jmp_buf too_long;
	size_t n;
	char text[OUTPUT_MAX];
};

static void take_piece(const char *piece, size_t n, void *ctx)
{
	struct output *out = ctx;

	if (n > sizeof(out->text) - out->n)
		longjmp(out->too_long, 1);
	if (n)
		memcpy(out->text + out->n, piece, n);
	out->n += n;
}

static bool run_libiberty(const char *raw, bool rust, int options,
			  struct output *out)
{
	out->n = 0;
	if (setjmp(out->too_long))
		return false;
	return rust ? rust_demangle_callback(raw, options, take_piece, out)
		    : cplus_demangle_v3_callback(raw, options, take_piece, out);
}

/* ---- names --------------------------------------------------------------- */

static bool is_legacy_rust(const char *raw, size_t stem)
{
	size_t n = demangle_unhashed(raw);

	return n < stem && raw[n] == '1';
}

/* `suffix` is that of a clone, left out of what was demangled. */
static const char *with_suffix(struct strings *s, struct output *out,
			       const char *suffix)
{
	size_t n = strlen(suffix);

	if (n > sizeof(out->text) - out->n)
		n = sizeof(out->text) - out->n;
	memcpy(out->text + out->n, suffix, n);
	return strings_add(s, out->text, out->n + n);
}

/* Rust has no parameter lists; its full name is the one with the hash. The suffix that LLVM
 * gives to what it makes visible tells nothing. */
static int rust_names(struct strings *s, const char *hash, const char *suffix,
		      struct output *out, struct names *ret)
{
	if (!strncmp(suffix, ".llvm.", 6))
		suffix = "";
	ret->name = ret->full = with_suffix(s, out, suffix);
	if (ret->name && hash && out->n + HASH_DIGITS + 3 < OUTPUT_MAX) {
		out->n += sprintf(out->text + out->n, "::%.*s",
				  HASH_DIGITS + 1, hash);
		ret->full = with_suffix(s, out, suffix);
	}
	return ret->full ? 0 : -ENOMEM;
}

static int mangled_names(struct strings *s, char *stem, const char *suffix,
			 struct output *out, struct names *ret)
{
	bool legacy = is_legacy_rust(stem, strlen(stem));
	bool rust = legacy || stem[1] == 'R';
	const int style = rust ? DMGL_RUST : DMGL_ANSI;

	if (!run_libiberty(stem, rust, style, out) || !out->n)
		return 0;
	if (rust) {
		const char *hash = legacy ?
			stem + demangle_unhashed(stem) + 2 : NULL;

		return rust_names(s, hash, suffix, out, ret);
	}
	ret->name = with_suffix(s, out, suffix);
	if (!ret->name)
		return -ENOMEM;
	ret->full = ret->name;
	if (!run_libiberty(stem, false, style | DMGL_PARAMS, out) || !out->n)
		return 0;
	ret->full = with_suffix(s, out, suffix);
	return ret->full ? 0 : -ENOMEM;
}

int demangle(struct strings *s, const char *raw, struct names *ret)
{
	static _Thread_local struct output out;
	char stem[RAW_MAX];
	size_t n;

	*ret = (struct names){ .name = raw, .full = raw, .raw = raw };
	if (raw[0] != '_' || (raw[1] != 'Z' && raw[1] != 'R'))
		return 0;
	n = demangle_stem(raw);
	if (n >= sizeof(stem) || n < 3)
		return 0;
	memcpy(stem, raw, n);
	stem[n] = '\0';
	return mangled_names(s, stem, raw + n, &out, ret);
}

/* ---- parameters ---------------------------------------------------------- */

/* The list of a function's parameters in what was taken apart; NULL: it is no function. */
static const struct demangle_component *parameters_of(const struct demangle_component *c)
{
	if (c && c->type == DEMANGLE_COMPONENT_CLONE)
		c = c->u.s_binary.left;
	if (!c || c->type != DEMANGLE_COMPONENT_TYPED_NAME)
		return NULL;
	c = c->u.s_binary.right;
	return c && c->type == DEMANGLE_COMPONENT_FUNCTION_TYPE ? c->u.s_binary.right : NULL;
}

/* A pack may be of any number. */
static int count_parameters(const struct demangle_component *list)
{
	int n = 0;

	if (!list)
		return -1;
	for (; list && list->type == DEMANGLE_COMPONENT_ARGLIST; list = list->u.s_binary.right) {
		const struct demangle_component *c = list->u.s_binary.left;

		if (c && c->type == DEMANGLE_COMPONENT_PACK_EXPANSION)
			return -1;
		n += c != NULL;
	}
	return list ? -1 : n;
}

int demangle_params(const char *raw)
{
	void *memory = NULL;

	if (raw[0] != '_' || raw[1] != 'Z' || strlen(raw) >= RAW_MAX)
		return -1;
	int ret = count_parameters(parameters_of(cplus_demangle_v3_components(raw, DMGL_PARAMS,
									      &memory)));

	free(memory);
	return ret;
}

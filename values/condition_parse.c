/* SPDX-License-Identifier: MIT */
/* condition_parse: from text to a tree, with the precedence of C. */
#include "values/condition_tree.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

struct parsing {
	const char *expr, *p;
	struct tree *t;
	struct condition_error *err;
	unsigned int nested;
};

#define wrong(s, at, ...) (condition_wrong((s)->err, (size_t)((at) - (s)->expr), __VA_ARGS__), \
			   NODE_NONE)

/* Its index, or NODE_NONE. */
static int add(struct parsing *s, const char *at, struct node node)
{
	struct tree *t = s->t;

	if (t->n == NODES_MAX)
		return wrong(s, at, "this is too long");
	node.column = (uint16_t)(at - s->expr);
	t->v[t->n] = node;
	return t->n++;
}

/* ---- words --------------------------------------------------------------- */

static void skip_space(struct parsing *s)
{
	while (isspace((unsigned char)*s->p))
		s->p++;
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool take(struct parsing *s, const char *token)
{
	skip_space(s);
	if (strncmp(s->p, token, strlen(token)))
		return false;
	s->p += strlen(token);
	return true;
}

static bool take_word(struct parsing *s, const char *word)
{
	skip_space(s);
	size_t n = strlen(word);

	if (strncmp(s->p, word, n) || is_word_char(s->p[n]))
		return false;
	s->p += n;
	return true;
}

/* What is at hand, for a message. */
static int unexpected(struct parsing *s, const char *wanted)
{
	size_t n = 0;

	skip_space(s);
	while (is_word_char(s->p[n]))
		n++;
	if (!*s->p)
		return wrong(s, s->p, "%s was expected, and the condition ends", wanted);
	return wrong(s, s->p, "%s was expected, not '%.*s'", wanted, (int)MIN(MAX(n, 1), 40),
		     s->p);
}

/* Room for `n` bytes of text. */
static bool has_room(const struct parsing *s, size_t n)
{
	return n <= sizeof(s->t->text) - s->t->ntext;
}

/* ---- literals ------------------------------------------------------------ */

static int digit_of(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ?
		tolower((unsigned char)c) - 'a' + 10 : 16;
}

/* Digits to a base, from `at` on; false if they are too many. */
static bool digits(const char **at, int base, uint64_t *ret)
{
	bool good = true;

	for (*ret = 0; digit_of(**at) < base; (*at)++)
		good &= !__builtin_mul_overflow(*ret, (uint64_t)base, ret) &&
			!__builtin_add_overflow(*ret, (uint64_t)digit_of(**at), ret);
	return good;
}

static uint64_t unit_of(const char *p, size_t n)
{
	static const struct { const char *name; uint64_t ns; } units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
		{ "m", 60000000000 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strlen(units[i].name) == n && !memcmp(units[i].name, p, n))
			return units[i].ns;
	return 0;
}

static bool is_suffix(const char *p, size_t n)
{
	static const char *const suffixes[] = { "", "u", "l", "ul", "lu", "ll", "ull", "llu" };

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (strlen(suffixes[i]) == n && !strncasecmp(suffixes[i], p, n))
			return true;
	return false;
}

static size_t word_length(const char *p)
{
	size_t n = 0;

	while (is_word_char(p[n]))
		n++;
	return n;
}

/* A time of so many units, which have digits behind a point: exactly, or not at all. */
static int add_time(struct parsing *s, const char *at, const char *end, uint64_t unit)
{
	const char *digit = at;
	uint64_t whole, sum = 0;
	bool good = digits(&digit, 10, &whole) && !__builtin_mul_overflow(whole, unit, &sum);

	if (good && *digit == '.')
		for (digit++; isdigit((unsigned char)*digit); digit++) {
			good &= unit % 10 == 0 || *digit == '0';
			unit /= 10;
			good &= !__builtin_add_overflow(sum, unit * (uint64_t)(*digit - '0'), &sum);
		}
	if (!good || digit != end)
		return wrong(s, at, "a time is a number of nanoseconds, of 64 bits");
	return add(s, at, (struct node){ .kind = NODE_TIME, .number = sum });
}

/* With a point or an exponent. */
static int add_real(struct parsing *s, const char *at)
{
	char *end;
	double v = strtod(at, &end);
	size_t n = word_length(end);
	bool single = n == 1 && (*end == 'f' || *end == 'F');
	uint64_t unit = unit_of(end, n);

	s->p = end + n;
	if (unit)
		return add_time(s, at, end, unit);
	if (n && !single)
		return wrong(s, end, "a float ends with its digits, or f");
	return add(s, at, (struct node){ .kind = NODE_REAL, .single = single,
					 .real = single ? strtof(at, NULL) : v });
}

static bool is_real(const char *p)
{
	size_t n = strspn(p, "0123456789");

	return p[n] == '.' || ((p[n] == 'e' || p[n] == 'E') &&
			       (isdigit((unsigned char)p[n + 1]) || p[n + 1] == '-' ||
				p[n + 1] == '+'));
}

static int take_number(struct parsing *s)
{
	const char *at = s->p, *p = at;
	int base = 10;
	uint64_t v, unit, time;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		base = 16;
	else if (p[0] == '0' && (p[1] == 'b' || p[1] == 'B'))
		base = 2;
	if (base == 10 && is_real(p))
		return add_real(s, at);
	if (base == 10 && p[0] == '0' && isdigit((unsigned char)p[1]))
		base = 8;
	p += base == 16 || base == 2 ? 2 : 0;
	if (digit_of(*p) >= base)
		return wrong(s, p, "a number was expected");
	if (!digits(&p, base, &v))
		return wrong(s, at, "this number has more than 64 bits");
	size_t n = word_length(p);

	s->p = p + n;
	unit = base == 10 ? unit_of(p, n) : 0;
	if (unit && __builtin_mul_overflow(v, unit, &time))
		return wrong(s, at, "a time is a number of nanoseconds, of 64 bits");
	if (unit)
		return add(s, at, (struct node){ .kind = NODE_TIME, .number = time });
	if (!is_suffix(p, n))
		return wrong(s, p, "'%.*s' is no unit of time (ns, us, ms, s, m), nor does a number "
			     "end so", (int)MIN(n, 40), p);
	return add(s, at, (struct node){ .kind = NODE_NUMBER, .number = v });
}

/* The character behind a backslash; false if it is none. */
static bool escape(const char **p, char *ret)
{
	static const char names[] = "ntrabfv0\\\"'", chars[] = "\n\t\r\a\b\f\v\0\\\"'";
	const char *name = **p ? strchr(names, **p) : NULL;

	if (**p == 'x' && isxdigit((unsigned char)(*p)[1]) && isxdigit((unsigned char)(*p)[2])) {
		*ret = (char)(digit_of((*p)[1]) * 16 + digit_of((*p)[2]));
		*p += 3;
		return true;
	}
	*ret = name ? chars[name - names] : 0;
	*p += !!name;
	return name;
}

/* What stands between quotes, into the tree's text. */
static int take_quoted(struct parsing *s, char quote)
{
	struct tree *t = s->t;
	const char *at = s->p++;
	size_t from = t->ntext;

	while (*s->p != quote && has_room(s, 2)) {
		const char *c = s->p;
		char got = *s->p++;

		if (!got)
			return wrong(s, at, "the quote is not closed");
		if (got == '\\' && !escape(&s->p, &got))
			return wrong(s, c, "after \\ comes one of n t r a b f v 0 \\ \" ' or two "
				     "digits behind an x");
		t->text[t->ntext++] = got;
	}
	/* Behind it is a NUL. */
	if (*s->p != quote || !has_room(s, 1))
		return wrong(s, at, "texts and names have at most %d bytes, together",
			     2 * CONDITION_POOL);
	s->p++;
	t->text[t->ntext] = '\0';
	return add(s, at, (struct node){ .kind = NODE_TEXT, .at = (uint16_t)from,
					 .n = (uint16_t)(t->ntext++ - from) });
}

static int take_character(struct parsing *s)
{
	const char *at = s->p;
	int i = take_quoted(s, '\'');
	struct node *node = i < 0 ? NULL : &s->t->v[i];

	if (!node)
		return i;
	if (node->n != 1)
		return wrong(s, at, "one character stands between ' and ', a text between \" and \"");
	*node = (struct node){ .kind = NODE_NUMBER, .column = node->column,
			       .number = (uint8_t)s->t->text[node->at] };
	return i;
}

/* ---- names --------------------------------------------------------------- */

/* With :: in it, too. */
static int take_name(struct parsing *s, struct node node)
{
	skip_space(s);
	const char *at = s->p;
	size_t n = word_length(at);

	while (n && at[n] == ':' && at[n + 1] == ':' && word_length(at + n + 2))
		n += 2 + word_length(at + n + 2);
	/* Members of Rust's tuples are numbers. */
	if (!n || (isdigit((unsigned char)*at) && node.kind != NODE_MEMBER))
		return unexpected(s, "a name");
	if (!has_room(s, n + 1))
		return wrong(s, at, "texts and names have at most %d bytes, together",
			     2 * CONDITION_POOL);
	node.at = (uint16_t)s->t->ntext;
	node.n = (uint16_t)n;
	memcpy(s->t->text + node.at, at, n);
	s->t->text[node.at + n] = '\0';
	s->t->ntext += n + 1;
	s->p += n;
	return add(s, at, node);
}

/* ---- expressions --------------------------------------------------------- */

static int take_expression(struct parsing *);
static int take_unary(struct parsing *);

static int take_closed(struct parsing *s, const char *close, int inner)
{
	return inner < 0 || take(s, close) ? inner : unexpected(s, close);
}

static int take_str(struct parsing *s, const char *at)
{
	int left = take_expression(s), right = NODE_NONE;

	if (left >= 0 && take(s, ",")) {
		right = take_expression(s);
		if (right < 0)
			return right;
	}
	left = take_closed(s, ")", left);
	return left < 0 ? left : add(s, at, (struct node){
		.kind = NODE_STR, .left = (int16_t)left, .right = (int16_t)right });
}

static int take_sample(struct parsing *s, int one)
{
	const struct node *v = s->t->v;

	if (v[one].kind != NODE_NUMBER || !take_word(s, "in"))
		return one;
	skip_space(s);
	const char *at = s->p;

	if (v[one].number != 1)
		return wrong(s, s->expr + v[one].column, "one call in so many: 1 in N");
	if (!isdigit((unsigned char)*at))
		return unexpected(s, "a number");
	int of = take_number(s);

	if (of < 0)
		return of;
	if (v[of].kind != NODE_NUMBER || !v[of].number)
		return wrong(s, at, "one call in so many: a number above 0");
	return add(s, s->expr + v[one].column, (struct node){ .kind = NODE_SAMPLE,
							      .number = v[of].number });
}

static int take_primary(struct parsing *s)
{
	skip_space(s);
	const char *at = s->p;

	if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]))) {
		int number = take_number(s);

		return number < 0 ? number : take_sample(s, number);
	}
	if (*at == '"')
		return take_quoted(s, '"');
	if (*at == '\'')
		return take_character(s);
	if (take(s, "("))
		return take_closed(s, ")", take_expression(s));
	if (take_word(s, "str")) {
		if (take(s, "("))
			return take_str(s, at);
		/* It is the name of something else. */
		s->p = at;
	}
	if (!is_word_char(*at))
		return unexpected(s, "a value");
	return take_name(s, (struct node){ .kind = NODE_NAME });
}

static int take_element(struct parsing *s, const char *at, int left)
{
	bool minus = take(s, "-");

	skip_space(s);
	const char *number = s->p;

	if (!isdigit((unsigned char)*number))
		return wrong(s, number, "a number stands between [ and ]");
	int index = take_closed(s, "]", take_number(s));

	if (index < 0)
		return index;
	struct node *node = &s->t->v[index];

	if (node->kind != NODE_NUMBER || node->number > INT32_MAX)
		return wrong(s, number, "this is no index");
	return add(s, at, (struct node){ .kind = NODE_ELEMENT, .left = (int16_t)left,
					 .minus = minus, .number = node->number });
}

static int take_postfix(struct parsing *s)
{
	int left = take_primary(s);

	while (left >= 0) {
		skip_space(s);
		const char *at = s->p;

		if (take(s, "->") || take(s, "."))
			left = take_name(s, (struct node){ .kind = NODE_MEMBER,
							   .left = (int16_t)left });
		else if (take(s, "["))
			left = take_element(s, at, left);
		else if (*at == '(')
			return wrong(s, at, "only str() is called so");
		else
			break;
	}
	return left;
}

/* A literal has its minus with it. */
static int add_unary(struct parsing *s, const char *at, uint8_t kind, int left)
{
	struct node *node = &s->t->v[left];

	if (kind == NODE_NEGATE && (node->kind == NODE_NUMBER || node->kind == NODE_TIME ||
				    node->kind == NODE_REAL)) {
		node->minus = !node->minus;
		node->column = (uint16_t)(at - s->expr);
		return left;
	}
	return add(s, at, (struct node){ .kind = kind, .left = (int16_t)left });
}

static int take_unary(struct parsing *s)
{
	static const struct { char sign; uint8_t kind; } signs[] = {
		{ '-', NODE_NEGATE }, { '~', NODE_COMPLEMENT }, { '!', NODE_NOT },
		{ '*', NODE_BEHIND }, { '+', NODE_NUMBER },
	};

	skip_space(s);
	const char *at = s->p;

	if (*at == '&')
		return wrong(s, at, "an address is not taken");
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
		if (*at != signs[i].sign || (*at == '!' && at[1] == '='))
			continue;
		s->p++;
		if (++s->nested > NESTED_EXPRESSIONS)
			return wrong(s, at, "this is nested too deeply");
		int left = take_unary(s);

		s->nested--;
		return left < 0 || *at == '+' ? left : add_unary(s, at, signs[i].kind, left);
	}
	return take_postfix(s);
}

/* What stands between two operands, and how much it binds: C has it so. */
static const struct operator {
	const char *token;
	uint8_t binds, kind, op;
} operators[] = {
	{ "||", 1, NODE_EITHER, 0 }, { "&&", 2, NODE_BOTH, 0 },
	{ "<<", 8, NODE_COMPUTE, CONDITION_SHL }, { ">>", 8, NODE_COMPUTE, CONDITION_SHR },
	{ "==", 6, NODE_COMPARE, RELATION_EQ }, { "!=", 6, NODE_COMPARE, RELATION_NE },
	{ "<=", 7, NODE_COMPARE, RELATION_LE }, { ">=", 7, NODE_COMPARE, RELATION_GE },
	{ "<", 7, NODE_COMPARE, RELATION_LT }, { ">", 7, NODE_COMPARE, RELATION_GT },
	{ "|", 3, NODE_COMPUTE, CONDITION_OR }, { "^", 4, NODE_COMPUTE, CONDITION_XOR },
	{ "&", 5, NODE_COMPUTE, CONDITION_AND },
	{ "+", 9, NODE_COMPUTE, CONDITION_ADD }, { "-", 9, NODE_COMPUTE, CONDITION_SUB },
	{ "*", 10, NODE_COMPUTE, CONDITION_MUL }, { "/", 10, NODE_COMPUTE, CONDITION_DIV },
	{ "%", 10, NODE_COMPUTE, CONDITION_MOD },
};

static const struct operator *operator_at(struct parsing *s)
{
	skip_space(s);
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (!strncmp(s->p, operators[i].token, strlen(operators[i].token)))
			return &operators[i];
	return NULL;
}

/* All that binds at least so much. */
static int take_binary(struct parsing *s, unsigned int least)
{
	int left = take_unary(s);
	const struct operator *o;

	while (left >= 0 && (o = operator_at(s)) && o->binds >= least) {
		const char *at = s->p;

		s->p += strlen(o->token);
		int right = take_binary(s, o->binds + 1);

		if (right < 0)
			return right;
		left = add(s, at, (struct node){ .kind = o->kind, .op = o->op,
						 .left = (int16_t)left, .right = (int16_t)right });
	}
	return left;
}

static int take_expression(struct parsing *s)
{
	if (++s->nested > NESTED_EXPRESSIONS)
		return wrong(s, s->p, "this is nested too deeply");
	int ret = take_binary(s, 1);

	s->nested--;
	return ret;
}

static int take_end(struct parsing *s, int root)
{
	skip_space(s);
	if (!*s->p)
		return root;
	if (*s->p == '=')
		return wrong(s, s->p, "nothing is assigned: a comparison is ==");
	if (take_word(s, "and") || take_word(s, "or") || take_word(s, "not"))
		return wrong(s, s->p - 1, "and, or and not are &&, || and !");
	return unexpected(s, "an operator");
}

int condition_parse(const char *expr, struct tree *ret, struct condition_error *err)
{
	struct parsing s = { .expr = expr, .p = expr, .t = ret, .err = err };

	ret->n = 0;
	ret->ntext = 0;
	if (strlen(expr) > UINT16_MAX)
		return condition_wrong(err, 0, "this is too long");
	skip_space(&s);
	if (!*s.p)
		return condition_wrong(err, 0, "a condition was expected");
	ret->root = take_expression(&s);
	if (ret->root >= 0)
		ret->root = take_end(&s, ret->root);
	return ret->root < 0 ? -EINVAL : 0;
}

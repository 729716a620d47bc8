/* SPDX-License-Identifier: MIT */
/* Are arguments and results where the calling conventions of both machines have them? */
#include <elf.h>

#include "tests/unit/check.h"
#include "values/places.h"

static struct signature s;

/* ---- types by letters ---------------------------------------------------- */

static uint32_t scalar(char c)
{
	static const struct { char c; uint8_t kind, flags; uint64_t size; } all[] = {
		{ 'c', TYPE_INT, TYPE_SIGNED, 1 }, { 's', TYPE_INT, TYPE_SIGNED, 2 },
		{ 'i', TYPE_INT, TYPE_SIGNED, 4 }, { 'l', TYPE_INT, TYPE_SIGNED, 8 },
		{ 'w', TYPE_INT, TYPE_SIGNED, 16 }, { 'b', TYPE_BOOL, 0, 1 },
		{ 'p', TYPE_POINTER, 0, 8 }, { 'f', TYPE_FLOAT, 0, 4 }, { 'd', TYPE_FLOAT, 0, 8 },
		{ 'L', TYPE_FLOAT, 0, 16 }, { 'Q', TYPE_FLOAT, TYPE_QUAD, 16 },
		{ 'F', TYPE_COMPLEX, 0, 8 }, { 'D', TYPE_COMPLEX, 0, 16 },
		{ 'C', TYPE_COMPLEX, 0, 32 }, { 'V', TYPE_VECTOR, 0, 16 }, { 'v', TYPE_VOID, 0, 0 },
		{ '?', TYPE_UNKNOWN, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].c == c)
			return signature_type(&s, &(struct type){
				.kind = all[i].kind, .flags = all[i].flags, .size = all[i].size });
	MUST(!"a letter");
	return 0;
}

/* "{ic}" a structure, "(ic)" a tuple, "<id>" a union, "{!..." packed, "{&...": passed by a pointer;
 * a digit: an array of so many of what follows. */
static uint32_t make(const char **p)
{
	char open = *(*p)++;
	struct member m[16];
	struct type t = { .kind = open == '<' ? TYPE_UNION : TYPE_STRUCT };
	uint32_t align = 1, n = 0;

	if (open >= '0' && open <= '9') {
		uint32_t of = make(p);

		return signature_type(&s, &(struct type){
			.kind = TYPE_ARRAY, .of = of, .n = open - '0',
			.size = (open - '0') * signature_type_at(&s, of)->size });
	}
	if (open != '{' && open != '<' && open != '(')
		return scalar(open);
	t.name = open == '(' ? signature_text(&s, "(") : 0;
	bool packed = **p == '!';

	*p += packed;
	if (**p == '&') {
		t.flags |= TYPE_INDIRECT;
		++*p;
	}
	for (; !strchr("})>", **p); n++) {
		uint32_t type = make(p), a = packed ? 1 : signature_align(&s, type);
		uint64_t at = open == '<' ? 0 : ALIGN_UP(t.size, a);

		m[n] = (struct member){ .type = type, .at = (uint32_t)at };
		t.size = MAX(t.size, at + signature_type_at(&s, type)->size);
		align = MAX(align, a);
	}
	++*p;
	t.size = ALIGN_UP(t.size, align);
	t.first = (uint32_t)s.nmembers;
	t.n = n;
	for (uint32_t i = 0; i < n; i++)
		MUST(signature_member(&s, &m[i]));
	return signature_type(&s, &t);
}

/* ---- places by words ----------------------------------------------------- */

static const char *register_name(const struct piece *p)
{
	static const char *const x86[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
					   "r8", "r9", "r10", "r11" };
	static char name[8];

	if (s.machine == EM_X86_64 && p->from == FROM_GENERAL) {
		MUST(p->number < ARRAY_SIZE(x86));
		return x86[p->number];
	}
	snprintf(name, sizeof(name), "%s%d", p->from == FROM_X87 ? "st" :
		 p->from == FROM_GENERAL ? "x" : s.machine == EM_X86_64 ? "xmm" : "v", p->number);
	return name;
}

/* "rdi", "rdi+xmm0", "8(40)": 40 bytes of stack at 8, "*rdi": a pointer, "-": nothing. */
static size_t describe(const struct place *p, char *to)
{
	size_t n = 0;

	if (p->kind == PLACE_UNKNOWN || p->kind == PLACE_NOWHERE || p->kind == PLACE_GONE)
		return (size_t)sprintf(to, p->kind == PLACE_UNKNOWN ? "?" :
				       p->kind == PLACE_GONE ? "gone" : "-");
	if (p->kind == PLACE_POINTED)
		to[n++] = '*';
	for (unsigned int i = 0; i < p->n; i++) {
		const struct piece *q = &p->pieces[i];

		n += (size_t)sprintf(to + n, "%s", i ? "+" : "");
		if (q->from == FROM_STACK)
			n += (size_t)sprintf(to + n, "%d(%d)", q->offset, q->size);
		else
			n += (size_t)sprintf(to + n, "%s", register_name(q));
	}
	to[n] = '\0';
	return n;
}

/* What is told to be in memory is taken for an older convention: so nothing is told. */
static void settle_go(void)
{
	struct place params[PARAMS_MAX];

	places_go(&s, convention_x86_64.go, params, &s.result.place);
	for (size_t i = 0; i < s.nparams; i++)
		s.params[i].place = params[i];
}

static void check(uint16_t machine, uint8_t language, const char *result, const char *params,
		  const char *want)
{
	char got[1024];
	size_t n;

	MUST_EQ(signature_begin(&s, machine), 0);
	s.language = language;
	s.result.type = make(&result);
	s.result.place.kind = PLACE_BY_TYPE;
	for (const char *p = params; *p; ) {
		struct parameter *made = &s.params[s.nparams++];

		made->type = make(&p);
		made->place.kind = PLACE_BY_TYPE;
	}
	if (language == LANGUAGE_GO)
		settle_go();
	else
		places_settle(&s);
	n = describe(&s.result.place, got);
	for (size_t i = 0; i < s.nparams; i++) {
		n += (size_t)sprintf(got + n, " ");
		n += describe(&s.params[i].place, got + n);
	}
	if (strcmp(got, want) != 0) {
		failures++;
		fprintf(stderr, "%s of %s is \"%s\", not \"%s\"\n", params,
			machine == EM_X86_64 ? "x86-64" : "arm64", got, want);
	}
	signature_clear(&s);
}

#define X86(result, params, want) check(EM_X86_64, LANGUAGE_C, result, params, want)
#define ARM(result, params, want) check(EM_AARCH64, LANGUAGE_C, result, params, want)
#define GO(result, params, want) check(EM_X86_64, LANGUAGE_GO, result, params, want)
#define RUST(result, params, want) check(EM_X86_64, LANGUAGE_RUST, result, params, want)

static void scalars(void)
{
	X86("i", "lsp", "rax rdi rsi rdx");
	X86("v", "iiiiiii", "- rdi rsi rdx rcx r8 r9 8(4)");
	X86("d", "difl", "xmm0 xmm0 rdi xmm1 rsi");
	X86("d", "dddddddddi", "xmm0 xmm0 xmm1 xmm2 xmm3 xmm4 xmm5 xmm6 xmm7 8(8) rdi");
	X86("b", "bc", "rax rdi rsi");
	/* The x87's is in memory, and aligned. */
	X86("L", "iLcL", "st0 rdi 8(16) rsi 24(16)");
	X86("v", "iiiiiiiL", "- rdi rsi rdx rcx r8 r9 8(4) 24(16)");
	X86("Q", "Qd", "xmm0 xmm0 xmm1");
	/* Both halves in registers, or none. */
	X86("w", "iiiiiwi", "rax+rdx rdi rsi rdx rcx r8 8(16) r9");
	X86("w", "w", "rax+rdx rdi+rsi");
	X86("F", "F", "xmm0 xmm0");
	X86("D", "D", "xmm0+xmm1 xmm0+xmm1");
	X86("C", "C", "st0+st1 8(32)");
	X86("V", "Vd", "xmm0 xmm0 xmm1");
	ARM("i", "lsp", "x0 x0 x1 x2");
	ARM("v", "iiiiiiiii", "- x0 x1 x2 x3 x4 x5 x6 x7 0(4)");
	ARM("d", "difl", "v0 v0 x0 v1 x1");
	ARM("Q", "Q", "v0 v0");
	ARM("D", "D", "v0+v1 v0+v1");
	/* C.10: an even register; C.13: none is used behind what had no room. */
	ARM("w", "iwi", "x0+x1 x0 x2+x3 x4");
	ARM("v", "iiiiiiiwi", "- x0 x1 x2 x3 x4 x5 x6 0(16) 16(4)");
}

static void structures(void)
{
	X86("{ii}", "{ii}", "rax rdi");
	X86("{li}", "{li}i", "rax+rdx rdi+rsi rdx");
	X86("{ff}", "{ff}", "xmm0 xmm0");
	X86("{fff}", "{fff}", "xmm0+xmm1 xmm0+xmm1");
	X86("{fi}", "{fi}", "rax rdi");
	X86("{dl}", "{dl}", "xmm0+rax xmm0+rdi");
	X86("{ld}", "{ld}d", "rax+xmm0 rdi+xmm0 xmm1");
	X86("{3c}", "{3c}", "rax rdi");
	X86("{}", "{}i", "- - rdi");
	/* More than 16 bytes: memory; for the result a pointer that takes the first register. */
	X86("{lll}", "i{lll}i", "*rax rsi 8(24) rdx");
	/* No register is used if not all are there. */
	X86("v", "iiiii{ll}i", "- rdi rsi rdx rcx r8 8(16) r9");
	X86("v", "ddddddd{dd}d", "- xmm0 xmm1 xmm2 xmm3 xmm4 xmm5 xmm6 8(16) xmm7");
	X86("{!ci}", "{!ci}", "*rax 8(5)");
	X86("{!4c}", "{!4c}", "rax rdi");
	X86("{L}", "{L}", "st0 8(16)");
	X86("{w}", "c{w}", "rax+rdx rdi rsi+rdx");
	X86("<il>", "<il>", "rax rdi");
	X86("<df>", "<df>", "xmm0 xmm0");
	X86("<di>", "<di>", "rax rdi");
	X86("<Ll>", "<Ll>", "*rax 8(16)");
	X86("{{f}{f}}", "{{f}{f}}", "xmm0 xmm0");
	X86("{&i}", "i{&i}", "*rax rsi *rdx");
	X86("{&i}", "iiiiii{&i}", "*rax rsi rdx rcx r8 r9 8(4) *16(8)");
	ARM("{ii}", "{ii}", "x0 x0");
	ARM("{li}", "{li}i", "x0+x1 x0+x1 x2");
	/* Homogeneous aggregates, up to four. */
	ARM("{ff}", "{ff}", "v0+v1 v0+v1");
	ARM("{dddd}", "{dddd}d", "v0+v1+v2+v3 v0+v1+v2+v3 v4");
	ARM("{ddddd}", "{ddddd}", "*x8 *x0");
	ARM("{2d{d}}", "{2d{d}}", "v0+v1+v2 v0+v1+v2");
	ARM("{df}", "{df}", "x0+x1 x0+x1");
	ARM("{F}", "{F}", "v0+v1 v0+v1");
	ARM("v", "dddddd{ddd}d", "- v0 v1 v2 v3 v4 v5 0(24) 24(8)");
	ARM("{lll}", "i{lll}i", "*x8 x0 *x1 x2");
	ARM("v", "iiiiiii{ll}i", "- x0 x1 x2 x3 x4 x5 x6 0(16) 16(4)");
	ARM("{&i}", "i{&i}", "*x8 x0 *x1");
	ARM("<di>", "<di>", "x0 x0");
	ARM("<df>", "<df>", "x0 x0");
	ARM("<dd>", "<dd>", "v0 v0");
}

static void rust(void)
{
	RUST("i", "lsp", "rax rdi rsi rdx");
	RUST("d", "difl", "xmm0 xmm0 rdi xmm1 rsi");
	/* Two scalars are two values, in registers or not. */
	RUST("(ii)", "(ii)i", "rax+rdx rdi+rsi rdx");
	RUST("(id)", "(fl)d", "rax+xmm0 xmm0+rdi xmm1");
	RUST("v", "(il)iiiii(ll)", "- rdi+rsi rdx rcx r8 r9 8(4) 16(8)+24(8)");
	RUST("v", "(il)iii(ll)", "- rdi+rsi rdx rcx r8 r9+8(8)");
	RUST("((i)l)", "((i)(l))", "rax+rdx rdi+rsi");
	/* Memory: an integer, or a pointer to it. */
	RUST("2i", "4s(iii)i", "rax rdi *rsi rdx");
	RUST("(lll)", "i", "*rdi rsi");
	RUST("()", "()i", "- - rdi");
	RUST("w", "w", "rax+rdx rdi+rsi");
	RUST("v", "iiiiiwi", "- rdi rsi rdx rcx r8 ? ?");
	/* It may be C's function, or C's structure. */
	RUST("{ii}", "{ii}i", "? ? ?");
	RUST("l", "{ll}i", "rax rdi+rsi rdx");
	RUST("l", "{ii}(ll)", "rax rdi+rsi rdx+rcx");
	RUST("l", "{d}(ll)", "rax ? ?");
	check(EM_AARCH64, LANGUAGE_RUST, "i", "i", "? ?");
	check(EM_X86_64, LANGUAGE_OTHER, "i", "i", "? ?");
}

static void go(void)
{
	GO("i", "lspdf", "rax rax rbx rcx xmm0 xmm1");
	/* Each part has a register, or all of it is on the stack. */
	GO("{ll}", "{pl}{pll}i", "rax+rbx rax+rbx rcx+rdi+rsi r8");
	GO("{cdc}", "{cdc}i", "rax+xmm0+rbx rax+xmm0+rbx rcx");
	GO("D", "Dd", "xmm0+xmm1 xmm0+xmm1 xmm2");
	GO("1l", "1l2l0li", "rax rax 8(16) - rbx");
	GO("{}", "{}i", "- - rax");
	GO("i", "llllllll{ll}lic", "rax rax rbx rcx rdi rsi r8 r9 r10 8(16) r11 24(4) 28(1)");
	GO("2l", "i?i", "? rax ? ?");
}

/* Where arguments in registers are in memory, it is the convention of older versions. */
static void older_go(void)
{
	MUST_EQ(signature_begin(&s, EM_X86_64), 0);
	s.language = LANGUAGE_GO;
	s.nparams = 1;
	s.params[0] = (struct parameter){ .type = scalar('i'), .place.kind = PLACE_BY_TYPE };
	s.result.type = scalar('i');
	s.result.place.kind = PLACE_BY_TYPE;
	places_settle(&s);
	CHECK_EQ(s.params[0].place.kind, PLACE_UNKNOWN);
	CHECK_EQ(s.result.place.kind, PLACE_UNKNOWN);
	signature_clear(&s);
}

/* What is not known makes all that follows unknown. */
static void lost(void)
{
	X86("i", "i?i", "rax rdi ? ?");
	X86("?", "i", "? ?");
	ARM("i", "i?i", "x0 x0 ? ?");
}

/* Debug information that names other registers is right, and the rest is not known then. */
static void own_conventions(void)
{
	MUST_EQ(signature_begin(&s, EM_X86_64), 0);
	s.nparams = 3;
	for (int i = 0; i < 3; i++)
		s.params[i] = (struct parameter){ .type = scalar('i'),
						  .place.kind = PLACE_BY_TYPE };
	s.params[0].place.kind = PLACE_GONE;
	s.params[1].place = (struct place){ .kind = PLACE_PIECES, .n = 1, .pieces = {
		{ .from = FROM_GENERAL, .number = 5, .size = 4 } } };
	places_settle(&s);
	CHECK(s.own_convention);
	CHECK_EQ(s.params[0].place.kind, PLACE_GONE);
	CHECK_EQ(s.params[1].place.kind, PLACE_PIECES);
	CHECK_EQ(s.params[2].place.kind, PLACE_UNKNOWN);
	signature_clear(&s);
}

int main(void)
{
	scalars();
	structures();
	lost();
	rust();
	go();
	older_go();
	own_conventions();
	return failures != 0;
}

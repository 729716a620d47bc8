/* SPDX-License-Identifier: MIT */
/*
 * Does a plan of nonsense keep the rules? Texts are made at random from bytes
 * that look like code, with functions that overlap; what is planned must be as
 * sound as in a compiler's text.
 */
#include "tests/patch/insns.h"
#include "tests/patch/rules.h"

enum { ROUNDS = 400, TEXT_BYTES = 700 };

static uint32_t state = 1;

static uint32_t any(uint32_t n)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % n;
}

/* Branches stay near, so that they meet what they should not. */
static void put_something(void)
{
	switch (any(16)) {
	case 0: put(RET); break;
	case 1: put(PUSH_RBX); break;
	case 2: put_rel8(JE, m.at + any(60) - 30); break;
	case 3: put_rel8(JMP8, m.at + any(60) - 30); break;
	case 4: put_jmp(any(TEXT_BYTES)); break;
	case 5: put_je(any(TEXT_BYTES)); break;
	case 6: put_call(any(TEXT_BYTES)); break;
	case 7: put_n(NOP, any(8)); break;
	case 8: put(NOP5); break;
	case 9: put((uint8_t)any(256)); break;
	case 10: put_lea(any(RODATA_CAP)); break;
	case 11: put(JMP_RAX); break;
	case 12: put(ADD_RSP_40); break;
	case 13: put(SYSCALL); break;
	case 14: put(INT3); break;
	default: put(MOV_RDI_RAX); break;
	}
}

static void make_module(void)
{
	size_t nfuncs = 1 + any(8);

	module_begin();
	m.exec = any(2);
	while (m.at < TEXT_BYTES)
		put_something();
	for (size_t i = 0; i < nfuncs; i++) {
		char name[16];

		snprintf(name, sizeof(name), any(4) ? "f%zu" : "f%zu.cold", i);
		func(name, any(TEXT_BYTES));
		if (any(2))
			func_cfa(8 * (1 + any(4)));
		m.at += any(200);
		func_end();
	}
	for (size_t i = 0; i + 8 <= RODATA_CAP; i += 8) {
		uint64_t word = any(2) ? TEXT + any(TEXT_BYTES) :
			(uint32_t)(TEXT + any(TEXT_BYTES) - RODATA - any(RODATA_CAP));

		memcpy(m.rodata + i, &word, 8);
	}
}

/* The last to start of all that hold an address, however they overlap. */
static void functions_are_found(void)
{
	const struct symbols *syms = m.symbols;

	for (raddr_t a = TEXT; a < TEXT + 2 * TEXT_BYTES; a++) {
		const struct func *last = NULL;

		for (size_t i = 0; i < syms->nfuncs; i++)
			if (range_has(syms->funcs[i].range, a))
				last = &syms->funcs[i];
		CHECK(symbols_func_at(syms, a) == last);
	}
}

int main(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct plan_options o = { .hosts = any(2), .entry_only = !any(8) };
		const struct func *all[MODULE_FUNCS + 16];
		size_t n = 0;

		make_module();
		module_open();
		functions_are_found();
		for (; n < m.symbols->nfuncs && n < ARRAY_SIZE(all); n++)
			all[n] = &m.symbols->funcs[n];
		CHECK(plan_make(m.arch, m.symbols, all, n, &o, &m.plan) == 0);
		CHECK(rules_broken(m.plan) == 0);
	}
	module_end();
	return failures != 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * runtime_ocaml: OCaml's functions do not ask for room on the stack. Its runtime makes an
 * exception of a stack's end if what met it is code of OCaml's, by its address. (A record needs
 * eight bytes only, in the page of the return address, for that is no multiple of 16 away from
 * a page's start.)
 */
#include "plan/impl.h"

static bool made(const struct symbols *syms, const struct func *f)
{
	return symbols_of_ocaml(syms, f->range.start);
}

static void prepare(struct body *b)
{
	if (!b->impl->arch->touches_stack)
		b->refusal = REFUSED_LITTLE_STACK;
}

static bool ends_stack(const struct body *b, size_t i)
{
	const struct insn *in = &b->steps[i].insn;
	size_t left;
	const uint8_t *bytes = symbols_text(b->impl->symbols, in->pc, &left);

	return !bytes || b->impl->arch->touches_stack(bytes, in);
}

static bool may_lower(const struct choice *c)
{
	(void)c;
	return false;
}

const struct runtime runtime_ocaml = {
	.name = "OCaml",
	.made = made,
	.prepare = prepare,
	.ends_stack = ends_stack,
	.may_lower = may_lower,
	.tight = true,
	.no_traps = true,
};

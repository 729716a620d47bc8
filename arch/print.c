/* SPDX-License-Identifier: MIT */
#include "arch/print.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdio.h>

static bool open_for(const struct arch *arch, csh *ret)
{
	bool x86 = arch->machine == EM_X86_64;

	if (cs_open(x86 ? CS_ARCH_X86 : CS_ARCH_ARM64, x86 ? CS_MODE_64 : CS_MODE_LITTLE_ENDIAN,
		    ret) != CS_ERR_OK)
		return false;
	return !x86 || cs_option(*ret, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT) == CS_ERR_OK;
}

static size_t print_number(const struct arch *arch, const uint8_t *p, size_t n, char *out,
			   size_t cap)
{
	uint32_t word = *p;
	size_t size = MIN((size_t)arch->align, n);

	for (size_t i = 1; i < size; i++)
		word |= (uint32_t)p[i] << 8 * i;
	snprintf(out, cap, "%s %#x", size > 1 ? ".inst" : ".byte", word);
	return size;
}

size_t arch_print(const struct arch *arch, const uint8_t *p, size_t n, raddr_t pc, char *out,
		  size_t cap)
{
	cs_insn *in = NULL;
	size_t size = 0;
	csh handle;

	if (open_for(arch, &handle)) {
		if (cs_disasm(handle, p, n, pc, 1, &in) == 1) {
			size = in->size;
			snprintf(out, cap, "%s%s%s", in->mnemonic, in->op_str[0] ? " " : "",
				 in->op_str);
			cs_free(in, 1);
		}
		cs_close(&handle);
	}
	return size ? size : print_number(arch, p, n, out, cap);
}

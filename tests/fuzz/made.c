/* SPDX-License-Identifier: MIT */
/*
 * made: which instructions do compilers never write, but decoders accept?
 *
 * Bytes at random with the shape of an instruction: prefixes, an opcode of any
 * map, operands of every form. What the decoder does not know, or says to stop
 * or to call the kernel, is thrown away; branches and operands relative to the
 * PC get destinations that exist.
 */
#include "tests/fuzz/made.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/x86_64/code.h"
#include "tests/fuzz/world.h"

enum {
	TEXT = 0x10000,
	FUNCS = 256,
	SLOT = 128,		/* bytes for a function and the padding behind */
	BODY = 80,		/* of it, at most: instructions */
	DATA = 1 << 20,		/* operands lead so far behind the text */
};

enum { SEC_TEXT = 1, SEC_SYMTAB, SEC_STRTAB, SEC_SHSTRTAB, SECS };

struct file {
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	Elf64_Shdr sh[SECS];
	char shstr[64];
	Elf64_Sym syms[FUNCS + 1];
	char names[1 + FUNCS * 8];
	uint8_t text[FUNCS * SLOT] __attribute__((aligned(4096)));
};

/* Displacements of short branches in the function that is being made. */
static uint8_t *short_branches[BODY];
static size_t nshort;

static uint8_t random_byte(void)
{
	return (uint8_t)(world_random() >> 24);
}

static bool one_in(unsigned int n)
{
	return (world_random() >> 20) % n == 0;
}

static size_t put_prefixes(uint8_t *p)
{
	static const uint8_t prefixes[] = { 0x66, 0xf2, 0xf3, 0xf0, 0x64, 0x3e, 0x67 };
	size_t n = 0;

	while (n < 3 && one_in(4))
		p[n++] = prefixes[(world_random() >> 8) % sizeof(prefixes)];
	if (one_in(2))
		p[n++] = 0x40 | (random_byte() & 15);
	return n;
}

/* What relocation treats in ways of its own: branches and calls. */
static size_t put_flow(uint8_t *p)
{
	uint8_t r = random_byte();

	switch (r & 7) {
	case 0: case 1:
		p[0] = 0x70 | r >> 4;			/* jcc rel8 */
		return 1;
	case 2:						/* loop, jrcxz; by ecx */
		p[0] = 0x67;
		p[r >> 7] = 0xe0 | (r >> 4 & 3);
		return 1 + (r >> 7);
	case 3:
		p[0] = 0x0f;
		p[1] = 0x80 | r >> 4;			/* jcc rel32 */
		return 2;
	case 4:
		p[0] = 0xe8;
		return 1;
	case 5:						/* call of any operand */
		p[0] = 0xff;
		p[1] = 0x10 | (random_byte() & 0xc7);
		return 2;
	default:					/* and on the stack */
		p[0] = 0xff;
		p[1] = 0x14 | (random_byte() & 0xc0);
		p[2] = 0x24;
		p[3] = 0x60 | (r >> 3);			/* about to outgrow a byte */
		return p[1] >= 0xc0 ? 2 : p[1] & 0x40 ? 4 : 3;
	}
}

static size_t put_opcode(uint8_t *p)
{
	switch (world_random() >> 61) {
	default:
		p[0] = random_byte();
		return 1;
	case 3:
		return put_flow(p);
	case 4: case 5:
		p[0] = 0x0f;
		p[1] = random_byte();
		return 2;
	case 6:
		p[0] = 0x0f;
		p[1] = one_in(2) ? 0x38 : 0x3a;
		p[2] = random_byte();
		return 3;
	case 7:				/* VEX in two or three bytes, EVEX */
		if (one_in(3)) {
			p[0] = 0xc5;
			p[1] = random_byte();
			p[2] = random_byte();
			return 3;
		}
		p[0] = one_in(2) ? 0xc4 : 0x62;
		p[1] = (random_byte() & 0xe0) | (1 + random_byte() % 3);
		p[2] = random_byte();
		p[3] = random_byte();
		p[4] = random_byte();
		return p[0] == 0xc4 ? 4 : 5;
	}
}

static void put_rel32(uint8_t *at, const struct file *f, int64_t to_offset)
{
	int32_t rel = (int32_t)(to_offset - (at + 4 - f->text));

	memcpy(at, &rel, 4);
}

/* Reads what is below the stack pointer, where a function finds nothing. */
static bool reads_below(const uint8_t *p, const struct x86_form *f)
{
	return x86_has_sib(f) && f->disp_size &&
	       x86_signed(p + f->disp_at, f->disp_size) < 0 &&
	       ((f->sib & 7) == 4 || (f->sib >> 3 & 7) == 4);
}

/* Destinations that exist: another function's start, or data; of short branches
 * this function's end, when
 * that is known. */
static bool lead_somewhere(struct file *f, uint8_t *p, const struct x86_form *form,
			   const struct insn *in)
{
	if (in->kind == INSN_JUMP || in->kind == INSN_BRANCH || in->kind == INSN_CALL) {
		if (form->prefixes & X86_OPSIZE)
			return false;
		if (form->imm_size == 1)
			short_branches[nshort++] = p + form->imm_at;
		else
			put_rel32(p + form->imm_at, f,
				  (int64_t)(world_random() % FUNCS * SLOT));
	} else if (x86_pcrel(form)) {
		if (form->prefixes & X86_ADDRSIZE)
			return false;
		put_rel32(p + form->disp_at, f, (int64_t)(world_random() % DATA + DATA));
	}
	return true;
}

/* One instruction that plan will look at. Its size; 0: try again. */
static size_t put_insn(struct file *f, uint8_t *p)
{
	struct x86_form form;
	struct insn in;
	size_t n = put_prefixes(p);

	n += put_opcode(p + n);
	for (; n < ARCH_INSN_MAX; n++)
		p[n] = random_byte();
	raddr_t pc = TEXT + (raddr_t)(p - f->text);

	if (one_in(2))			/* small displacements reach the block */
		memset(p + 5, 0, 3);
	if (x86_decode(p, ARCH_INSN_MAX, pc, &in) || x86_parse(p, in.size, &form))
		return 0;
	if (in.kind == INSN_UNKNOWN || in.kind == INSN_STOP || in.kind == INSN_SYSCALL ||
	    in.kind == INSN_JUMP_INDIRECT || in.kind == INSN_RETURN)
		return 0;
	return !reads_below(p, &form) && lead_somewhere(f, p, &form, &in) ? in.size : 0;
}

/* The ways in which a function ends. */
static size_t put_end(struct file *f, uint8_t *p)
{
	switch (world_random() >> 62) {
	case 0:
		*p = 0xc3;
		return 1;
	case 1:
		memcpy(p, "\xc2\x10", 3);
		return 3;
	case 2:
		*p = 0xe9;
		put_rel32(p + 1, f, (int64_t)(world_random() % FUNCS * SLOT));
		return 5;
	default:			/* a conditional tail jump, and a return */
		p[0] = 0x0f;
		p[1] = 0x80 | (random_byte() & 15);
		put_rel32(p + 2, f, (int64_t)(world_random() % FUNCS * SLOT));
		p[6] = 0xc3;
		return 7;
	}
}

static void put_function(struct file *f, size_t i)
{
	uint8_t *start = f->text + i * SLOT, *p = start;
	size_t insns = world_random() % 8;

	while (insns && p + ARCH_INSN_MAX <= start + BODY) {
		size_t n = put_insn(f, p);

		p += n;
		insns -= n != 0;
	}
	for (; nshort; nshort--) {
		uint8_t *at = short_branches[nshort - 1];

		*at = (uint8_t)(p - (at + 1));
	}
	p += put_end(f, p);
	memset(p, one_in(4) ? 0x90 : 0xcc, (size_t)(start + SLOT - p));
	f->syms[i + 1] = (Elf64_Sym){ .st_name = (uint32_t)(1 + 8 * i),
		.st_value = TEXT + i * SLOT, .st_size = (size_t)(p - start),
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = SEC_TEXT };
	snprintf(f->names + 1 + 8 * i, 8, "made%zu", i);
}

#define OFF(field) offsetof(struct file, field)

static void put_headers(struct file *f)
{
	static const char names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";

	memcpy(f->shstr, names, sizeof(names));
	f->eh = (Elf64_Ehdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_phoff = OFF(ph), .e_shoff = OFF(sh), .e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = SECS,
		.e_shstrndx = SEC_SHSTRTAB };
	f->ph = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
		.p_offset = OFF(text), .p_vaddr = TEXT, .p_filesz = sizeof(f->text),
		.p_memsz = sizeof(f->text), .p_align = 4096 };
	f->sh[SEC_TEXT] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addr = TEXT,
		.sh_offset = OFF(text), .sh_size = sizeof(f->text), .sh_addralign = 16 };
	f->sh[SEC_SYMTAB] = (Elf64_Shdr){ .sh_name = 7, .sh_type = SHT_SYMTAB,
		.sh_offset = OFF(syms), .sh_size = sizeof(f->syms),
		.sh_entsize = sizeof(Elf64_Sym), .sh_link = SEC_STRTAB, .sh_info = 1 };
	f->sh[SEC_STRTAB] = (Elf64_Shdr){ .sh_name = 15, .sh_type = SHT_STRTAB,
		.sh_offset = OFF(names), .sh_size = sizeof(f->names) };
	f->sh[SEC_SHSTRTAB] = (Elf64_Shdr){ .sh_name = 23, .sh_type = SHT_STRTAB,
		.sh_offset = OFF(shstr), .sh_size = sizeof(names) };
}

int made_module(void)
{
	static struct file f;
	int fd = memfd_create("made", MFD_CLOEXEC);

	if (fd < 0)
		return fail(errno, "memory for made functions");
	memset(&f, 0, sizeof(f));
	put_headers(&f);
	for (size_t i = 0; i < FUNCS; i++)
		put_function(&f, i);
	if (write(fd, &f, sizeof(f)) == (ssize_t)sizeof(f))
		return fd;
	close(fd);
	return fail(EIO, "memory for made functions");
}

/* SPDX-License-Identifier: MIT */
/*
 * module: an ELF file of a few functions, made in memory byte by byte, and
 * what plan says of it.
 *
 * A test places functions at offsets of the text, puts instructions, and asks:
 *
 *	module_begin();
 *	func("f", 0x10); put(0x90, ...); func_end();
 *	module_plan("f");
 *	CHECK(probe()->refusal == ...);
 */
#ifndef TESTS_PATCH_MODULE_H
#define TESTS_PATCH_MODULE_H

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "payload/abi.h"
#include "plan/placement.h"
#include "tests/unit/check.h"

enum {
	TEXT = 0x10000, RODATA = 0x40000,	/* link-time addresses */
	TEXT_CAP = 0x4000, RODATA_CAP = 0x1000,
	LISTED = 0x800,		/* in the read-only data: addresses of nops, */
	SLEDS = 0xc00,		/* and a map of sleds */
	SLOTS = RODATA + 0x8018,
	MODULE_FUNCS = 16,
};

static struct made {
	uint8_t text[TEXT_CAP], rodata[RODATA_CAP], eh[1024], names[1024];
	size_t at, used, eh_used, names_used, nfuncs, nlisted, nsleds;
	Elf64_Sym syms[MODULE_FUNCS + 1];
	int64_t cfa[MODULE_FUNCS + 1];
	uint8_t down[MODULE_FUNCS + 1];	/* so far in the frame is gone; 0: nowhere */
	bool exec;		/* ET_EXEC: words are addresses */
	bool ocaml;		/* all is of OCaml */
	bool go;		/* all is of Go */
	bool unclear;		/* or may be */
	struct range unsafe;	/* where no goroutine is preempted */
	struct range note;	/* what is a note, as its headers say */
	struct range table;	/* of linkage, by the words from SLOTS on, */
	const char *slots[4];	/* of these functions of other files */
	const struct arch *arch;
	struct symbols *symbols;
	const struct plan *plan;
	struct placed_probe *probes;	/* its placement */
} m;

static void module_close(void)
{
	free(m.probes);
	plan_free(m.plan);
	m.probes = NULL;
	symbols_close(m.symbols);
	m.plan = NULL;
	m.symbols = NULL;
}

static void module_end(void)
{
	module_close();
	fail_clear();
	memset(&m, 0, sizeof(m));
}

/* Text that no function claims is zero: neither code nor padding. */
static void module_begin(void)
{
	module_end();
	m.names_used = 1;
	m.nfuncs = 1;
	m.arch = &arch_x86_64;
}

static void put_bytes(const uint8_t *p, size_t n)
{
	memcpy(m.text + m.at, p, n);
	m.at += n;
	m.used = MAX(m.used, m.at);
}

#define put(...) put_bytes((const uint8_t[]){ __VA_ARGS__ }, \
			   sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void put_rel32(size_t dest)
{
	int32_t rel = (int32_t)dest - (int32_t)(m.at + 4);

	put_bytes((const uint8_t *)&rel, 4);
}

static inline void put_rel8(uint8_t op, size_t dest)
{
	put(op, (uint8_t)(dest - (m.at + 2)));
}

static inline void put_jmp(size_t dest) { put(0xe9); put_rel32(dest); }
static inline void put_call(size_t dest) { put(0xe8); put_rel32(dest); }
static inline void put_je(size_t dest) { put(0x0f, 0x84); put_rel32(dest); }

/* lea of read-only data into rdx */
static inline void put_lea(size_t rodata_off)
{
	put(0x48, 0x8d, 0x15);
	put_rel32(rodata_off + RODATA - TEXT);
}

static inline void put_n(uint8_t byte, size_t n)
{
	while (n--)
		put(byte);
}

static inline void func(const char *name, size_t off)
{
	Elf64_Sym *s = &m.syms[m.nfuncs++];

	m.at = off;
	*s = (Elf64_Sym){ .st_name = (uint32_t)m.names_used, .st_value = TEXT + off,
			  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1 };
	m.names_used += (size_t)sprintf((char *)m.names + m.names_used, "%s", name) + 1;
}

enum { FRAME_POINTER = -1, IN_A_FRAME = -2 };

/* The frame's address is sp + n in the last function, or is found through rbp (x29),
 * but for its first byte. */
static inline void func_cfa(int64_t n)
{
	m.cfa[m.nfuncs - 1] = n;
}

/* From here on its stack is as the entry finds it. */
static inline void func_down(void)
{
	m.down[m.nfuncs - 1] = (uint8_t)(TEXT + m.at - m.syms[m.nfuncs - 1].st_value);
}

/* A piece of code that only its unwind entry tells of, as in stripped files:
 * it begins in the middle of a frame. */
static inline void fragment(size_t off)
{
	func("", off);
	m.syms[m.nfuncs - 1].st_info = 0;
	func_cfa(IN_A_FRAME);
}

/* The compiler lists this place, as one that a tracer may want. */
static inline void listed(void)
{
	memcpy(m.rodata + LISTED + 8 * m.nlisted++, &(uint64_t){ TEXT + m.at }, 8);
}

/* A sled of XRay's begins here; kind 0 is an entry, 1 an exit. */
static inline void sled(uint8_t kind)
{
	size_t at = SLEDS + 32 * m.nsleds++;
	uint64_t distance = TEXT + m.at - (RODATA + at);

	memcpy(m.rodata + at, &distance, 8);
	m.rodata[at + 16] = kind;
	m.rodata[at + 18] = 2;
}

static void func_end(void)
{
	Elf64_Sym *s = &m.syms[m.nfuncs - 1];

	s->st_size = TEXT + m.at - s->st_value;
}

/* One CIE, and an FDE for each function that has a CFA. */
static void module_unwind(void)
{
	bool arm64 = m.arch->machine == EM_AARCH64;
	const uint8_t sp = arm64 ? 31 : 7, frame = arm64 ? 29 : 6, at_entry = arm64 ? 0 : 8;
	const uint8_t cie[] = {
		20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16,
		1, 0x04,		/* FDE pointers: absolute, 8 bytes */
		0x0c, sp, at_entry, 0x90, 1, 0, 0 };
	uint8_t *p = m.eh;

	memcpy(p, cie, sizeof(cie));
	p += sizeof(cie);
	for (size_t i = 1; i < m.nfuncs; i++) {
		uint32_t head[2] = { 28, (uint32_t)(p + 4 - m.eh) };

		if (!m.cfa[i])
			continue;
		memcpy(p, head, 8);
		memcpy(p + 8, &m.syms[i].st_value, 8);
		memcpy(p + 16, &m.syms[i].st_size, 8);
		if (m.cfa[i] == FRAME_POINTER)
			memcpy(p + 24, (uint8_t[8]){ 0, 0x41, 0x0d, frame }, 8);
		else if (m.cfa[i] == IN_A_FRAME)
			memcpy(p + 24, (uint8_t[8]){ 0, 0x0e, 48 }, 8);
		else
			memcpy(p + 24, (uint8_t[8]){ 0, 0x41, 0x0e, (uint8_t)m.cfa[i] }, 8);
		if (m.down[i])
			memcpy(p + 28, (uint8_t[4]){ 0x02, m.down[i] - 1, 0x0e, at_entry }, 4);
		p += 32;
	}
	m.eh_used = (size_t)(p - m.eh) + 4;
}

enum { SEC_TEXT = 1, SEC_RODATA, SEC_EH, SEC_SYMTAB, SEC_STRTAB, SEC_SHSTRTAB,
	SEC_LISTED, SEC_SLEDS, SECS };

struct file {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[3];
	Elf64_Shdr sh[SECS];
	char shstr[128];
	Elf64_Sym syms[MODULE_FUNCS + 1];
	uint8_t names[1024];
	uint8_t text[TEXT_CAP] __attribute__((aligned(4096)));
	uint8_t rodata[RODATA_CAP];
	uint8_t ehframe[1024];
};

#define OFF(field) offsetof(struct file, field)

static void file_sections(struct file *f)
{
	static const char names[] =
		"\0.text\0.rodata\0.eh_frame\0.symtab\0.strtab\0.shstrtab"
		"\0__patchable_function_entries\0xray_instr_map";

	memcpy(f->shstr, names, sizeof(names));
	f->sh[SEC_TEXT] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addr = TEXT,
		.sh_offset = OFF(text), .sh_size = m.used, .sh_addralign = 16 };
	f->sh[SEC_RODATA] = (Elf64_Shdr){ .sh_name = 7, .sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC, .sh_addr = RODATA, .sh_offset = OFF(rodata),
		.sh_size = RODATA_CAP, .sh_addralign = 16 };
	f->sh[SEC_EH] = (Elf64_Shdr){ .sh_name = 15, .sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC, .sh_addr = RODATA + RODATA_CAP,
		.sh_offset = OFF(ehframe), .sh_size = m.eh_used, .sh_addralign = 8 };
	f->sh[SEC_SYMTAB] = (Elf64_Shdr){ .sh_name = 25, .sh_type = SHT_SYMTAB,
		.sh_offset = OFF(syms), .sh_size = m.nfuncs * sizeof(Elf64_Sym),
		.sh_entsize = sizeof(Elf64_Sym), .sh_link = SEC_STRTAB, .sh_info = 1 };
	f->sh[SEC_STRTAB] = (Elf64_Shdr){ .sh_name = 33, .sh_type = SHT_STRTAB,
		.sh_offset = OFF(names), .sh_size = m.names_used };
	f->sh[SEC_SHSTRTAB] = (Elf64_Shdr){ .sh_name = 41, .sh_type = SHT_STRTAB,
		.sh_offset = OFF(shstr), .sh_size = sizeof(names) };
	f->sh[SEC_LISTED] = (Elf64_Shdr){ .sh_name = 51, .sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC, .sh_addr = RODATA + LISTED,
		.sh_offset = OFF(rodata) + LISTED, .sh_size = 8 * m.nlisted };
	f->sh[SEC_SLEDS] = (Elf64_Shdr){ .sh_name = 80, .sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC, .sh_addr = RODATA + SLEDS,
		.sh_offset = OFF(rodata) + SLEDS, .sh_size = 32 * m.nsleds };
}

static void file_fill(struct file *f)
{
	f->eh = (Elf64_Ehdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = m.exec ? ET_EXEC : ET_DYN, .e_machine = m.arch->machine,
		.e_version = EV_CURRENT, .e_phoff = OFF(ph), .e_shoff = OFF(sh),
		.e_ehsize = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = range_size(m.note) ? 3 : 2, .e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECS, .e_shstrndx = SEC_SHSTRTAB };
	f->ph[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
		.p_offset = OFF(text), .p_vaddr = TEXT, .p_filesz = m.used,
		.p_memsz = m.used, .p_align = 4096 };
	f->ph[1] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R,
		.p_offset = OFF(rodata), .p_vaddr = RODATA,
		.p_filesz = RODATA_CAP + m.eh_used,
		.p_memsz = RODATA_CAP + m.eh_used, .p_align = 4096 };
	f->ph[2] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_flags = PF_R,
		.p_vaddr = m.note.start, .p_filesz = range_size(m.note) };
	file_sections(f);
	memcpy(f->syms, m.syms, sizeof(m.syms));
	memcpy(f->names, m.names, sizeof(m.names));
	memcpy(f->text, m.text, sizeof(m.text));
	memcpy(f->rodata, m.rodata, sizeof(m.rodata));
	memcpy(f->ehframe, m.eh, sizeof(m.eh));
}

static const struct func *module_func(const char *name)
{
	for (size_t i = 0; i < m.symbols->nfuncs; i++)
		if (!strcmp(m.symbols->funcs[i].raw, name))
			return &m.symbols->funcs[i];
	fprintf(stderr, "no function %s in the test's module\n", name);
	exit(1);
}

static void module_link(void)
{
	size_t n = 0;

	m.symbols->slots = calloc(ARRAY_SIZE(m.slots), sizeof(*m.symbols->slots));
	m.symbols->tables = calloc(1, sizeof(m.table));
	*m.symbols->tables = m.table;
	for (; n < ARRAY_SIZE(m.slots) && m.slots[n]; n++)
		m.symbols->slots[n] = (struct got_slot){ SLOTS + 8 * n, m.slots[n] };
	m.symbols->nslots = n;
	m.symbols->ntables = 1;
	if (plan_linkage(m.arch, m.symbols)) {
		fprintf(stderr, "the test's linkage: %s\n", fail_text());
		exit(1);
	}
}

static void module_open(void)
{
	static struct file f;
	auto_close int fd = memfd_create("module", 0);

	module_close();			/* of an earlier plan of the same text */
	module_unwind();
	memset(&f, 0, sizeof(f));
	file_fill(&f);
	if (fd < 0 || write(fd, &f, sizeof(f)) != sizeof(f) ||
	    symbols_open(fd, "module", &m.symbols)) {
		fprintf(stderr, "the test's module: %s\n", fail_text());
		exit(1);
	}
	if (m.ocaml) {
		m.symbols->ocaml = calloc(1, sizeof(struct range));
		*m.symbols->ocaml = (struct range){ TEXT, TEXT + TEXT_CAP };
		m.symbols->nocaml = 1;
	}
	if (m.go)
		m.symbols->go = m.unclear ? (struct range){ 0, UINT64_MAX } :
			(struct range){ TEXT, TEXT + TEXT_CAP };
	if (range_size(m.unsafe)) {
		m.symbols->unsafe = calloc(1, sizeof(m.unsafe));
		*m.symbols->unsafe = m.unsafe;
		m.symbols->nunsafe = 1;
	}
	if (range_size(m.table))
		module_link();
}

/* Plan up to three functions of the module, in this order. */
static void module_plan_with(const struct plan_options *o, const char *f,
			     const char *g, const char *h)
{
	const char *names[] = { f, g, h };
	const struct func *selected[3];
	size_t n = 0;

	module_open();
	for (; n < 3 && names[n]; n++)
		selected[n] = module_func(names[n]);
	if (plan_make(m.arch, m.symbols, selected, n, o, &m.plan) ||
	    !(m.probes = plan_placement(m.plan))) {
		fprintf(stderr, "plan_make: %s\n", fail_text());
		exit(1);
	}
}

static inline void module_plan(const char *f)
{
	module_plan_with(NULL, f, NULL, NULL);
}

static inline const struct probe *probe(void)
{
	return &m.plan->probes[0];
}

/* The i-th site, from the text's start: pc, window, dead. */
static inline bool site_is(const struct probe *p, size_t i, enum tactic tactic,
			   size_t off, size_t window, size_t dead)
{
	const struct site *s = &p->sites[i];

	if (i < p->nsites && s->tactic == tactic && s->pc == TEXT + off &&
	    s->window == window && s->dead == dead)
		return true;
	fprintf(stderr, "refusal %s, entry-only %s, %zu sites\n",
		refusal_word(p->refusal), refusal_word(p->entry_only), p->nsites);
	for (i = 0; i < p->nsites; i++)
		fprintf(stderr, "  %s at %#zx, window %u, dead %u\n",
			tactic_word(p->sites[i].tactic),
			(size_t)(p->sites[i].pc - TEXT), p->sites[i].window,
			p->sites[i].dead);
	return false;
}

#endif

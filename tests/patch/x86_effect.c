/* SPDX-License-Identifier: MIT */
/*
 * Is what arch->effect says of x86-64 instructions what the processor does?
 *
 * Instructions are made of every opcode, and taken from the code that is loaded here and
 * from libcrypto, one of each form. Each is run by itself, from registers and memory at
 * random, and what it has changed is compared with the claim. EFFECT_SEED=n begins
 * otherwise, EFFECT_ROUNDS=n makes n times as many.
 */
#include <stdio.h>

#ifndef __x86_64__
int main(void)
{
	printf("skipped: runs x86-64 code\n");
	return 77;
}
#else

#include "tests/patch/effect_judge.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>

enum {
	TRIES = 2,		/* from other states, if it faults */
	FORMS = 1 << 17,	/* a power of two */
	GIVE_UP = 8,		/* and twice as many where groups are */
	ALIVE = 255,
	MAP_HALVES = 5,		/* and one more: what only EVEX has */
	MIN_RUN = 20000,	/* fewer would mean that nothing was tested */
};

static uint64_t forms[FORMS];
static size_t nforms;
static struct trial trial;

/* False: there is no such instruction. */
static bool try(const uint8_t *p, size_t n)
{
	for (int i = 0; i < TRIES; i++) {
		memset(trial.bytes, 0, sizeof(trial.bytes));
		memcpy(trial.bytes, p, MIN(n, (size_t)ARCH_INSN_MAX));
		int err = trial_run(&trial);

		if (err <= 0 || err == SIGILL)
			return !err;
	}
	return true;
}

/* ---- made ------------------------------------------------------------------ */

/* What is chosen of an instruction; the rest is at random. */
struct choice {
	uint8_t map, op, reg, rex;
	uint8_t prefix;		/* 66, f3, f2 by its number in VEX */
	bool memory;
};

static const uint8_t mandatory[] = { 0, 0x66, 0xf3, 0xf2 };

/* ModRM, SIB, displacement, and bytes that may be a number. */
static size_t put_operands(const struct choice *c, uint8_t *p)
{
	uint8_t mod = c->memory ? (uint8_t)native_below(3) : 3;
	size_t n = 0;

	p[n++] = (uint8_t)(mod << 6 | c->reg << 3 | native_below(8));
	if (c->memory && (p[0] & 7) == 4)
		p[n++] = (uint8_t)native_random();
	if (mod == 1)
		p[n++] = (uint8_t)(native_below(32) - 16);
	else if (mod == 2)
		n += 4, memcpy(p + n - 4, (int32_t[]){ (int32_t)native_below(512) - 256 }, 4);
	else if (c->memory && ((p[0] & 7) == 5 || ((p[0] & 7) == 4 && (p[1] & 7) == 5)))
		n += 4;			/* aimed later */
	uint64_t number = native_once_in(2) ? native_random() : native_once_in(2) ?
		(uint64_t)native_below(8) : native_once_in(2) ? UINT64_MAX : 0;

	memcpy(p + n, &number, 4);
	return n + 4;
}

/* Prefixes that most of them may have. */
static size_t put_prefixes(const struct choice *c, uint8_t *p)
{
	size_t n = 0;

	if (native_once_in(16))
		p[n++] = 0x67;
	if (native_once_in(16))
		p[n++] = 0x65;
	else if (native_once_in(16))
		p[n++] = native_once_in(2) ? 0x2e : 0x3e;
	if (c->memory && native_once_in(8))
		p[n++] = 0xf0;
	return n;
}

static bool make_legacy(const struct choice *c)
{
	static const uint8_t second[] = { 0, 0, 0x38, 0x3a };
	uint8_t code[64] = { 0 };
	size_t n = put_prefixes(c, code);

	if (c->prefix)
		code[n++] = mandatory[c->prefix];
	if (c->rex)
		code[n++] = (uint8_t)(0x40 | (c->rex & X86_REX_W) | native_below(8));
	else if (native_once_in(4))
		code[n++] = (uint8_t)(0x40 | native_below(8));
	if (c->map)
		code[n++] = 0x0f;
	if (c->map > 1)
		code[n++] = second[c->map];
	code[n++] = c->op;
	put_operands(c, code + n);
	return try(code, sizeof(code));
}

/* With two bytes or three; of the registers' numbers all bits are inverted. */
static bool make_vex(const struct choice *c)
{
	uint8_t code[64] = { 0 };
	uint64_t r = native_random();
	uint8_t last = (uint8_t)((c->rex & X86_REX_W ? 0x80 : 0) | (r & 0x7c) | c->prefix);
	size_t n = native_once_in(16) ? put_prefixes(c, code) : 0;

	/* Most instructions have two operands. */
	if (r >> 32 & 1)
		last |= 0x78;
	if (c->map == X86_MAP_0F && r >> 33 & 1) {
		code[n++] = 0xc5;
		code[n++] = (last & 0x7f) | (r >> 16 & 0x80);
	} else {
		code[n++] = 0xc4;
		code[n++] = (uint8_t)((r >> 16 & 0xe0) | c->map);
		code[n++] = last;
	}
	code[n++] = c->op;
	put_operands(c, code + n);
	return try(code, sizeof(code));
}

static bool make_evex(const struct choice *c)
{
	uint8_t code[64] = { 0x62 };
	uint64_t r = native_random();

	code[1] = (uint8_t)((r & 0xf0) | c->map);
	code[2] = (uint8_t)((c->rex & X86_REX_W ? 0x80 : 0) | 4 | c->prefix |
			    (r >> 32 & 1 ? 0x78 : r >> 8 & 0x78));
	/* No rounding, no broadcast, no mask, most often. */
	code[3] = (uint8_t)((r >> 16 & 0x60) | 8 | (r >> 34 & 3 ? 0 : r >> 24 & 0x97));
	code[4] = c->op;
	put_operands(c, code + 5);
	return try(code, sizeof(code));
}

/* Of an opcode that was none so many times no more are made. */
static void make_once(struct choice *c, uint8_t map, bool (*make)(const struct choice *),
		      uint8_t (*none)[4][256])
{
	uint8_t *n = &none[map][c->prefix][c->op];

	c->map = map;
	if (*n == (make == make_legacy && map <= X86_MAP_0F ? 2 * GIVE_UP : GIVE_UP))
		return;
	if (make(c))
		*n = ALIVE;
	else if (*n != ALIVE)
		++*n;
}

static void make_all(void)
{
	static uint8_t none[3][8][4][256];
	bool evex = (native_keeps & NATIVE_ZMM) == NATIVE_ZMM, halves = native_has_halves();

	for (unsigned int i = 0; i < 256 * 2 * 2 * 8 * 4; i++) {
		struct choice c = { .op = (uint8_t)i, .memory = i >> 8 & 1,
				    .rex = i >> 9 & 1 ? X86_REX_W : 0,
				    .reg = (i >> 10) * 3 & 7, .prefix = i >> 13 & 3 };

		for (uint8_t map = X86_MAP_ONE; map <= X86_MAP_0F3A; map++)
			make_once(&c, map, make_legacy, none[0]);
		for (uint8_t map = X86_MAP_0F; map <= X86_MAP_0F3A && native_keeps; map++)
			make_once(&c, map, make_vex, none[1]);
		for (uint8_t map = X86_MAP_0F; map <= MAP_HALVES + 1 && evex; map++)
			if (map < MAP_HALVES || halves)
				make_once(&c, map, make_evex, none[2]);
	}
}

/* ---- taken ----------------------------------------------------------------- */

/* All that says how it is encoded, but for numbers and which registers it has. */
static uint64_t form_of(const uint8_t *p, const struct x86_form *f)
{
	uint64_t key = (uint64_t)f->coding << 8 | f->map;
	uint8_t modrm = f->modrm_at ? f->modrm : 0;

	key = key << 8 | f->op;
	key = key << 8 | f->prefixes;
	key = key << 8 | f->rex;
	key = key << 8 | (f->modrm_at ? (modrm & 0xf8) | (f->memory ? f->disp_size : 0) : 0);
	key = key << 4 | f->imm_size;
	if (f->coding != X86_LEGACY)
		key = key * 31 + p[f->op_at - 1];
	if (f->modrm_at && x86_has_sib(f))
		key = ~key;
	return key * 0x9e3779b97f4a7c15 | 1;
}

static bool is_new(uint64_t key)
{
	for (size_t i = key >> 40; ; i++) {
		uint64_t *at = &forms[i & (FORMS - 1)];

		if (*at == key || (!*at && nforms > FORMS / 2))
			return false;
		if (!*at) {
			*at = key;
			nforms++;
			return true;
		}
	}
}

static void sweep(const uint8_t *p, size_t n)
{
	struct insn in;
	struct x86_form f;

	for (size_t i = 0; i < n; i += in.size) {
		if (arch_x86_64.measure(p + i, n - i, 0, &in)) {
			in.size = 1;
			continue;
		}
		if (in.kind == INSN_PLAIN && !x86_parse(p + i, n - i, &f) &&
		    is_new(form_of(p + i, &f)))
			try(p + i, in.size);
	}
}

static int sweep_loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && ph->p_flags & PF_X && ph->p_flags & PF_R)
			sweep((const uint8_t *)(info->dlpi_addr + ph->p_vaddr), ph->p_memsz);
	}
	return 0;
}

/* Of a file, as it is mapped: its code. */
static void sweep_mapped(const uint8_t *map, size_t size)
{
	const Elf64_Ehdr *eh = (const void *)map;

	if (size < sizeof(*eh) || memcmp(map, ELFMAG, SELFMAG) || eh->e_machine != EM_X86_64 ||
	    eh->e_phoff > size || (size - eh->e_phoff) / sizeof(Elf64_Phdr) < eh->e_phnum)
		return;
	for (int i = 0; i < eh->e_phnum; i++) {
		const Elf64_Phdr *ph = (const Elf64_Phdr *)(map + eh->e_phoff) + i;

		if (ph->p_type == PT_LOAD && ph->p_flags & PF_X && ph->p_offset <= size &&
		    ph->p_filesz <= size - ph->p_offset)
			sweep(map + ph->p_offset, ph->p_filesz);
	}
}

static void sweep_file(const char *path)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return;
	void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (map == MAP_FAILED)
		return;
	sweep_mapped(map, (size_t)st.st_size);
	munmap(map, (size_t)st.st_size);
}

static void take_all(void)
{
	static const char *const files[] = {
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/lib64/libcrypto.so.3",
	};

	memset(forms, 0, sizeof(forms));
	nforms = 0;
	dl_iterate_phdr(sweep_loaded, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		sweep_file(files[i]);
}

static int number_of(const char *name, int otherwise)
{
	const char *text = getenv(name);

	return text ? atoi(text) : otherwise;
}

/* What an instruction can be claimed to do, but for what a call does. */
static bool has_all_claims(void)
{
	bool all = true;

	for (int i = 0; i < EFFECT_RETURNED; i++) {
		printf("%s%s %zu", i ? ", " : "claimed: ", op_names[i], tally.ops[i]);
		all &= tally.ops[i] > 0;
	}
	printf("\n");
	return all;
}

int main(void)
{
	if (!native_open()) {
		printf("skipped: no memory that is writable and executable\n");
		return 77;
	}
	native_seed = (uint64_t)number_of("EFFECT_SEED", 1);
	for (int i = number_of("EFFECT_ROUNDS", 2); i > 0; i--) {
		make_all();
		take_all();
	}
	bool all = has_all_claims();

	printf("%zu instructions, %zu forms taken; %zu ran, %zu faulted; %zu differ from run to "
	       "run; %zu wrong\n", tally.made, nforms, tally.run, tally.faulted, tally.unsteady,
	       tally.wrong);
	return tally.wrong || tally.run < MIN_RUN || !all;
}
#endif

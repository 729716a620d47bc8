/* SPDX-License-Identifier: MIT */
/*
 * Does the fast decoder of x86-64 see the instructions that capstone sees, and
 * is it fast enough to sweep a whole text?
 *
 * It sweeps the .text of real programs, code and the data between alike, and
 * compares size, kind and destination of every instruction that capstone knows.
 * What is known to differ is named below and counted apart. LENGTH_ALL=1
 * sweeps every byte instead of the first LIMIT of each file.
 */
#include "arch/arch.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

enum { LIMIT = 1 << 20, SHOWN = 20 };

static const char *const files[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
	"/usr/sbin/nginx",
	"/usr/bin/redis-server",
	"/usr/bin/python3",
	"/usr/bin/node",
};

struct text {
	const uint8_t *bytes;
	size_t size;
	raddr_t pc;
	void *map;
	size_t map_size;
};

struct tally {
	size_t insns, unknown, excused, wrong;
	double slow, fast;	/* seconds */
	size_t bytes;
};

static csh handle;
static cs_insn *insn;

static bool fits(uint64_t off, uint64_t size, uint64_t all)
{
	return off <= all && size <= all - off;
}

static int text_find(struct text *t)
{
	const uint8_t *map = t->map;
	const Elf64_Ehdr *eh = t->map;
	const Elf64_Shdr *sh = (const void *)(map + eh->e_shoff);

	if (t->map_size < sizeof(*eh) || memcmp(map, ELFMAG, SELFMAG) ||
	    eh->e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh->e_machine != EM_X86_64 || eh->e_shstrndx >= eh->e_shnum ||
	    !fits(eh->e_shoff, eh->e_shnum * sizeof(*sh), t->map_size))
		return -1;
	const Elf64_Shdr *names = &sh[eh->e_shstrndx];

	for (int i = 0; i < eh->e_shnum; i++) {
		if (!fits(names->sh_offset + sh[i].sh_name, 6, t->map_size) ||
		    memcmp(map + names->sh_offset + sh[i].sh_name, ".text", 6))
			continue;
		if (!fits(sh[i].sh_offset, sh[i].sh_size, t->map_size))
			return -1;
		t->bytes = map + sh[i].sh_offset;
		t->size = sh[i].sh_size;
		t->pc = sh[i].sh_addr;
		return 0;
	}
	return -1;
}

static int text_open(const char *path, struct text *t)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0)
		return -1;
	t->map_size = st.st_size;
	t->map = mmap(NULL, t->map_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (t->map == MAP_FAILED)
		return -1;
	if (text_find(t) == 0)
		return 0;
	munmap(t->map, t->map_size);
	return -1;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

/* The instruction as capstone has it; its size, or 0. */
static size_t capstone_size(const uint8_t *p, size_t n, raddr_t pc)
{
	uint64_t address = pc;

	n = MIN(n, ARCH_INSN_MAX);
	return cs_disasm_iter(handle, &p, &n, &address, insn) ? insn->size : 0;
}

static void show(const char *what, const uint8_t *p, const struct insn *in)
{
	printf("  %s: ours %u bytes kind %u, capstone %u bytes `%s %s':", what,
	       in->size, in->kind, insn->size, insn->mnemonic, insn->op_str);
	for (int i = 0; i < ARCH_INSN_MAX; i++)
		printf(" %02x", p[i]);
	printf("\n");
}

/* Refused on purpose: a relative jump or call with a 66 prefix and no REX.W,
 * whose length depends on the maker of the processor. */
static bool is_excused(const uint8_t *p)
{
	bool opsize = false;

	for (; strchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf2\xf3", *p) && *p; p++)
		opsize |= *p == 0x66;
	if ((*p & 0xf8) == 0x40)	/* REX without W */
		p++;
	return opsize && (*p == 0xe8 || *p == 0xe9 ||
			  (*p == 0x0f && (p[1] & 0xf0) == 0x80));
}

/* One place of a text. The bytes to step over. */
static size_t compare(const uint8_t *p, size_t n, raddr_t pc, struct tally *t)
{
	struct insn fast = { 0 }, exact;
	int err = arch_x86_64.measure(p, n, pc, &fast);

	t->insns++;
	if (!err && arch_x86_64.decode(p, n, pc, &exact) == 0 &&
	    (exact.kind != INSN_UNKNOWN || fast.kind == INSN_UNKNOWN))
		return fast.size;
	if (capstone_size(p, n, pc) == 0) {
		t->unknown++;
	} else if (is_excused(p)) {
		t->excused++;
	} else if (t->wrong++ < SHOWN) {
		show(err ? "refused" : "differs", p, &fast);
	}
	return err ? 1 : fast.size;
}

/* Seconds that one pass of `f` takes. */
static double sweep(int (*f)(const uint8_t *, size_t, raddr_t, struct insn *),
		    const struct text *t, size_t n)
{
	double start = now();
	struct insn in;

	for (size_t i = 0; i < n; ) {
		bool ok = f(t->bytes + i, n - i, t->pc + i, &in) == 0;

		i += ok ? in.size : 1;
	}
	return now() - start;
}

static void check(const char *path, const struct text *text, struct tally *sum)
{
	struct tally t = { .bytes = text->size };

	if (!getenv("LENGTH_ALL"))
		t.bytes = MIN(t.bytes, (size_t)LIMIT);
	for (size_t i = 0; i < t.bytes; )
		i += compare(text->bytes + i, text->size - i, text->pc + i, &t);
	t.slow = sweep(arch_x86_64.decode, text, t.bytes);
	t.fast = sweep(arch_x86_64.measure, text, t.bytes);
	printf("%s: %zu bytes, %zu instructions, %zu unknown to capstone, "
	       "%zu excused, %zu wrong; %.1f MB/s, capstone %.2f\n",
	       path, t.bytes, t.insns, t.unknown, t.excused, t.wrong,
	       t.bytes / t.fast / 1e6, t.bytes / t.slow / 1e6);
	sum->wrong += t.wrong;
	sum->bytes += t.bytes;
	sum->slow += t.slow;
	sum->fast += t.fast;
}

int main(void)
{
	struct tally sum = { 0 };

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
		return 1;
	insn = cs_malloc(handle);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct text text;

		if (text_open(files[i], &text)) {
			printf("%s: not here\n", files[i]);
			continue;
		}
		check(files[i], &text, &sum);
		munmap(text.map, text.map_size);
	}
	cs_free(insn, 1);
	cs_close(&handle);
	if (!sum.bytes) {
		printf("skipped: no x86-64 program to sweep\n");
		return 77;
	}
	printf("%.1f times as fast as capstone\n", sum.slow / sum.fast);
	return sum.wrong > 0;
}
